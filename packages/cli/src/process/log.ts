import { type JsonLog, jsonLog, type LogRecord, type RequestRecord } from "@virtual-workspaces/framework/server";
import { UsageError } from "./failure.ts";
import { clearProgress } from "./progress.ts";

/** Minimum `--v` for a log of requests, as in Kubernetes. */
const REQUESTS = 3;

/** Log of a server, on stderr, so that stdout stays free. */
export interface StartLog {
  readonly log: JsonLog;
  /** Whether the lines of the log are JSON. */
  readonly isJson: boolean;
  /** Set if requests are logged. */
  readonly onRequest?: (record: RequestRecord) => void;
}

/** Returns the log that the flags select. @throws UsageError */
export function logOf(flags: { readonly v: number; readonly "logging-format": string }): StartLog {
  const verbosity = flags.v;
  const log = logAs(flags["logging-format"]);
  const isJson = flags["logging-format"] === "json";
  if (verbosity < REQUESTS) return { log, isJson };
  return { log, isJson, onRequest: (record) => log({ level: "info", message: "HTTP", ...record }) };
}

/** Sends process warnings to the log if it is JSON, until disposal: Node.js prints them as text. */
export function logWarnings({ log, isJson }: Pick<StartLog, "log" | "isJson">): Disposable {
  const printing = process.listeners("warning");
  const note = ({ name, message }: Error): void =>
    log({ level: "warn", message: "process warning", name, warning: message });
  if (isJson) process.removeAllListeners("warning").on("warning", note);
  return {
    [Symbol.dispose]: () => {
      if (!isJson) return;
      process.off("warning", note);
      for (const print of printing) process.on("warning", print);
    },
  };
}

/** Returns a log in a format. @throws UsageError for an unknown format */
export function logAs(format: string): JsonLog {
  if (format !== "text" && format !== "json")
    throw new UsageError(`invalid value "${format}" for --logging-format: use text or json`);
  return format === "json" ? jsonLog() : jsonLog({ to: (line) => write(formatLine(line)) });
}

function write(line: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  clearProgress();
  process.stderr.write(line, (error) => (error ? reject(error) : resolve()));
  return promise;
}

/** Formats a line of JSON for people: `2026-11-22T04:31:37.123Z warn message key=value`. */
function formatLine(line: string): string {
  const { time, level, message, ...details } = JSON.parse(line) as LogRecord & { readonly time: string };
  const shown = Object.entries(details).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${[time, level.padEnd(5), oneLine(message), ...shown].join(" ")}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
