/** A log record: a message and its fields. Security: it never contains credentials, headers or bodies. */
export interface LogRecord {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [detail: string]: unknown;
}

/** Log of a server, for operators. */
export type Log = (record: LogRecord) => void;

/** Default log: errors and warnings become process warnings, the rest is discarded. */
export const warningLog: Log = ({ level, message, ...details }) => {
  if (level !== "info") process.emitWarning(`${message} ${JSON.stringify(details)}`);
};
