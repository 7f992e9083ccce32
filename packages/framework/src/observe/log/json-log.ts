import { closeSync, openSync } from "node:fs";
import { LineQueue } from "./line-queue.ts";
import type { Log, LogRecord } from "./log.ts";
import { type LineTarget, writerTo } from "./target.ts";

/** Where a JSON log goes, and how much of it. */
export interface JsonLogOptions {
  /** A file is readable to its owner alone. @default process.stderr */
  readonly to?: LineTarget;
  /** The least that is written. @default "info" */
  readonly level?: LogRecord["level"];
  /** How much may wait to be written, bytes; what comes then is lost and counted. @default 1 MiB */
  readonly maxPending?: number;
}

/** A log whose lines are JSON. Disposing it writes what waits. */
export interface JsonLog extends Log, AsyncDisposable {}

const RANKS: Readonly<Record<LogRecord["level"], number>> = { info: 0, warn: 1, error: 2 };
/** Characters of a line: a stack or an answer of another server may be of any length. */
const LONGEST = 32 * 1024;

/**
 * Writes a server's log as one JSON object a line: `time`, `level`, `message`, then the particulars; lines that are about
 * a request have its `requestId`, which is the answer's `Audit-Id`, and the `traceId` if there is one. What looks like a
 * bearer token or a password in a URL is masked, whoever let it slip into an error's text. A line is on its way at the
 * end of the turn; those that nobody takes are lost rather than kept, and the next one says how many.
 *
 * @throws Error when the file cannot be written
 */
export function jsonLog({ to = process.stderr, level = "info", maxPending = 2 ** 20 }: JsonLogOptions = {}): JsonLog {
  checkWritable(to);
  let lost = 0;
  const queue = new LineQueue({
    writer: writerTo(to, (error) => write({ level: "warn", message: "log file not begun anew", error: String(error) })),
    limit: maxPending,
    delay: 0,
    onLost: (count) => {
      lost += count;
    },
  });
  const write = (record: LogRecord): void => {
    if (RANKS[record.level] < RANKS[level]) return;
    if (queue.full) {
      lost += 1;
      return;
    }
    if (lost > 0) queue.add(lineOf({ level: "warn", message: "log lines lost", count: lost }));
    lost = 0;
    queue.add(lineOf(record));
  };
  return Object.assign(write, { [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose]() });
}

/** A log that cannot be written is told of by nobody: better at once. */
function checkWritable(to: LineTarget): void {
  const path = typeof to === "string" ? to : "path" in to && !("write" in to) ? to.path : undefined;
  if (path === undefined) return;
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw new Error(`log: cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function lineOf({ level, message, ...details }: LogRecord): string {
  const time = new Date().toISOString();
  const line = masked(textOf({ time, level, message, ...details }));
  if (line.length <= LONGEST) return line;
  const { requestId } = details;
  return masked(textOf({ time, level, message, requestId, truncated: line.slice(0, LONGEST / 2) }));
}

function textOf(value: object): string {
  try {
    return JSON.stringify(value, shown);
  } catch (error) {
    return JSON.stringify({ ...value, details: String(error) }, ["time", "level", "message", "requestId", "details"]);
  }
}

function shown(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return value.stack ?? value.message;
  return value instanceof Map || value instanceof Set ? [...value] : value;
}

/** Credentials as they stand in headers and URLs. */
function masked(line: string): string {
  return line
    .replace(/\b(bearer|basic)\s+(?=\S*[\d._-])[\w.~+/-]{4,}=*/gi, "$1 [masked]")
    .replace(/(\w:\/\/[^\s/:@"]*:)[^\s/@"]+@/g, "$1[masked]@");
}
