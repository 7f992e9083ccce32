/** A line of a log: what happened, and particulars. Never holds credentials, headers or bodies. */
export interface LogRecord {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [detail: string]: unknown;
}

/** Where a server writes what an operator should know. */
export type Log = (record: LogRecord) => void;

/** Errors and warnings as process warnings, the rest nowhere: what a library does when nobody says otherwise. */
export const warningLog: Log = ({ level, message, ...details }) => {
  if (level !== "info") process.emitWarning(`${message} ${JSON.stringify(details)}`);
};
