import { dirname } from "node:path";
import { parseArgs } from "node:util";

/** A mistake in the command line: exit code 2. The message names what is wrong and the remedy. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What went wrong is the world's doing, not the command line's, and the message says all: exit code 1, no stack. */
export class Failure extends Error {
  override readonly name = "Failure";
}

/** One command of the binary. Resolves to its exit code. */
export interface Command {
  /** What `--help` says, without a last newline. */
  readonly help: string;
  run(args: readonly string[]): Promise<number>;
}

type Options = Readonly<
  Record<string, { readonly type: "string" | "boolean"; readonly short?: string; readonly multiple?: boolean }>
>;

/** `parseArgs` of Node, strict, whose complaints are usage errors that name the flags there are. */
export function parse<const T extends Options>(args: readonly string[], options: T): Parsed<T> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true }) as Parsed<T>;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const flags = Object.keys(options).map((name) => `--${name}`);
    // Node's advice on positional arguments that begin with a dash is of no use here.
    const [problem = ""] = error.message.split(". To specify a positional");
    throw new UsageError(`${problem.replace(/\.$/, "")}. The flags are ${flags.join(", ")}`);
  }
}

/** What {@link parse} finds. */
export interface Parsed<T extends Options> {
  readonly values: { readonly [Name in keyof T]?: ValueOf<T[Name]> };
  readonly positionals: readonly string[];
}

type ValueOf<T extends Options[string]> = T["multiple"] extends true ? readonly SingleOf<T>[] : SingleOf<T>;
type SingleOf<T extends Options[string]> = T["type"] extends "string" ? string : boolean;

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
