import { closeSync, openSync } from "node:fs";
import { LineQueue } from "./line-queue.ts";
import type { Log, LogRecord } from "./log.ts";
import { type LineTarget, lineWriter } from "./target.ts";

/** Options of a JSON log. */
export interface JsonLogOptions {
  /** Target; a file is readable by its owner only. @default process.stderr */
  readonly to?: LineTarget;
  /** Lowest level to write. @default "info" */
  readonly level?: LogRecord["level"];
  /** Bytes that may be pending; further lines are dropped and counted. @default 1 MiB */
  readonly maxPending?: number;
}

/** A log with JSON lines. Disposing it writes pending lines. */
export interface JsonLog extends Log, AsyncDisposable {}

const RANKS: Readonly<Record<LogRecord["level"], number>> = { info: 0, warn: 1, error: 2 };
/** Longest line, characters: a stack or an upstream's response may have any length. */
const LONGEST = 32 * 1024;

/**
 * Writes a server's log as one JSON object a line: `time`, `level`, `message`, then the fields; lines about a request have
 * its `requestId` (the response's `Audit-Id`), and the `traceId` if there is one. Lines are written at the end of the turn;
 * when the target does not accept them they are dropped, and the next line reports how many.
 *
 * Security: bearer tokens, and passwords in URLs, are masked in all fields.
 *
 * @throws Error when the file cannot be written
 */
export function jsonLog({ to = process.stderr, level = "info", maxPending = 2 ** 20 }: JsonLogOptions = {}): JsonLog {
  checkWritable(to);
  let lost = 0;
  const queue = new LineQueue({
    writer: lineWriter(to, (error) => write({ level: "warn", message: "log file not rotated", error: String(error) })),
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

/** Fails early: no log could report a log that cannot be written. */
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

/** Masks credentials as they occur in headers and URLs. */
function masked(line: string): string {
  return line
    .replace(/\b(bearer|basic)\s+(?=\S*[\d._-])[\w.~+/-]{4,}=*/gi, "$1 [masked]")
    .replace(/(\w:\/\/[^\s/:@"]*:)[^\s/@"]+@/g, "$1[masked]@");
}
