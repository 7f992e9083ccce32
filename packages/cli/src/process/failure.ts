import { dirname } from "node:path";

/** A mistake in the command line: exit code 2. The message names the mistake and the remedy. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An error of the environment rather than of the command line: exit code 1, without a stack. The message is complete. */
export class Failure extends Error {
  override readonly name = "Failure";
}

/** Turns errors into {@link Failure}s without a stack: messages of stores, files and keys are complete. */
export async function orFail<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error ? new Failure(error.message, { cause: error }) : error;
  }
}

/** Returns the stack without frames of Node.js and of this package, so that the module's own frames remain. */
export function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (!(error instanceof Error)) return String(error);
  const ours = dirname(import.meta.dirname);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !(/^ +at /.test(line) && (line.includes("node:") || line.includes(ours)))).join("\n");
}
