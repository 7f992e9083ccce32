import type { Deadlines } from "./deadlines.ts";

/** A request to another server. */
export interface Outgoing {
  /** @default "GET" */
  readonly method?: string;
  /** Behind the upstream's own URL, with its query, byte for byte as it is to be sent; begins with a slash. */
  readonly path: string;
  /** Flat pairs, name and value in turn, sent as UTF-8. Those of the credentials are added behind them. */
  readonly headers?: readonly string[];
  readonly body?: Buffer | string;
  /** Ends the request; what is thrown then is the signal's reason. */
  readonly signal?: AbortSignal;
  readonly deadlines?: Partial<Omit<Deadlines, "connect">>;
  /** The longest body that is read whole, bytes. @default 64 MiB */
  readonly limit?: number;
  /** Whether it takes a connection for long, as a watch does: those have connections of their own, as many as need be. @default false */
  readonly long?: boolean;
}
