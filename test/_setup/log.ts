// Why: an error that a server only logs is still an error. Give every server under test this log: what it writes as a
// warning or an error fails the test, unless the test takes it out with `expectFault`.
import type { Log, LogRecord } from "@virtual-workspaces/framework/server";
import { reportFault } from "./faults.ts";

/** A log for a server under test, and what was written to it so far, information included. */
export interface TestLog {
  readonly log: Log;
  readonly records: readonly LogRecord[];
}

/** A new {@link TestLog}. */
export function testLog(): TestLog {
  const records: LogRecord[] = [];
  const log: Log = (record) => {
    records.push(record);
    const { level, message, ...details } = record;
    if (level !== "info") reportFault(`logged ${level}`, `${message} ${JSON.stringify(details)}`);
  };
  return { log, records };
}
