// Why: an error that a server only logs is still an error. Give every server under test this log: its warnings and errors
// fail the test, unless the test expects them with `expectFault`.
import type { Log, LogRecord } from "@virtual-workspaces/framework/server";
import { OVER_PLAIN_HTTP, reportFault } from "./faults.ts";

/** Log for a server under test, with all its records so far, including those at level info. */
export interface TestLog {
  readonly log: Log;
  readonly records: readonly LogRecord[];
}

/** Returns a new {@link TestLog}. */
export function testLog(): TestLog {
  const records: LogRecord[] = [];
  const log: Log = (record) => {
    if (OVER_PLAIN_HTTP.test(record.message)) return;
    records.push(record);
    const { level, message, ...details } = record;
    if (level !== "info") reportFault(`logged ${level}`, `${message} ${JSON.stringify(details)}`);
  };
  return { log, records };
}
