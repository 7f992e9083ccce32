import { type JsonLog, jsonLog, type LogRecord, type RequestRecord } from "@virtual-workspaces/framework/server";
import { UsageError } from "./failure.ts";

/** From which `--v` on requests are logged, as in Kubernetes. */
const REQUESTS = 3;

/** How a server logs: on stderr, of which stdout stays free. */
export interface StartLog {
  readonly log: JsonLog;
  /** Only where requests are logged. */
  readonly onRequest?: (record: RequestRecord) => void;
}

/** @throws UsageError */
export function logOf(flags: { readonly v: number; readonly "logging-format": string }): StartLog {
  const verbosity = flags.v;
  const log = logAs(flags["logging-format"]);
  if (verbosity < REQUESTS) return { log };
  return { log, onRequest: (record) => log({ level: "info", message: "HTTP", ...record }) };
}

/** A log of this format. @throws UsageError on one that there is not */
export function logAs(format: string): JsonLog {
  if (format !== "text" && format !== "json")
    throw new UsageError(`invalid value "${format}" for --logging-format: use text or json`);
  return format === "json" ? jsonLog() : jsonLog({ to: (line) => write(formatLine(line)) });
}

function write(line: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  process.stderr.write(line, (error) => (error ? reject(error) : resolve()));
  return promise;
}

/** A line of JSON as people read it: `2026-11-22T04:31:37.123Z warn message key=value`. */
function formatLine(line: string): string {
  const { time, level, message, ...details } = JSON.parse(line) as LogRecord & { readonly time: string };
  const shown = Object.entries(details).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${[time, level.padEnd(5), oneLine(message), ...shown].join(" ")}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
