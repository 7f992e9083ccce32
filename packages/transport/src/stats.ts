import { isTransportError, type TransportErrorCode } from "./transport-error.ts";

/** What an {@link Upstream} is doing and has done: gauges, and counters since the beginning. */
export interface UpstreamStats {
  /** Open connections, those that are kept for the next request among them. */
  readonly connections: number;
  /** Requests whose answers have not come to their end. */
  readonly active: number;
  /** Of these, those that wait for a connection. */
  readonly pending: number;
  /** Requests since the beginning. Second tries do not count again. */
  readonly requests: number;
  /** Second tries since the beginning: on another connection, or with another credential. */
  readonly retries: number;
  /** Requests that failed since the beginning, by the code of their error; those that their callers ended are not among them. */
  readonly failures: Readonly<Record<TransportErrorCode, number>>;
}

/** The counters. */
export class Counts {
  requests = 0;
  retries = 0;
  readonly failures: Record<TransportErrorCode, number> = {
    connect: 0,
    tls: 0,
    timeout: 0,
    reset: 0,
    malformed: 0,
    tooLarge: 0,
    closed: 0,
  };

  failed(error: unknown): void {
    if (isTransportError(error)) this.failures[error.code] += 1;
  }
}
