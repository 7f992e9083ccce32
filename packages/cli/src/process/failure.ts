import { dirname } from "node:path";

/** A mistake in the command line: exit code 2. The message names what is wrong and the remedy. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What went wrong is the world's doing, not the command line's, and the message says all: exit code 1, no stack. */
export class Failure extends Error {
  override readonly name = "Failure";
}

/** What is thrown by it says all that there is to say: no stack. Stores, files and keys do. */
export async function orFail<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error ? new Failure(error.message, { cause: error }) : error;
  }
}

/** The stack without what is Node's and ours: the mistake is in between. */
export function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (!(error instanceof Error)) return String(error);
  const ours = dirname(import.meta.dirname);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !(/^ +at /.test(line) && (line.includes("node:") || line.includes(ours)))).join("\n");
}
