import type { Deadlines } from "./deadlines.ts";

/** A request to another server. */
export interface Outgoing {
  /** @default "GET" */
  readonly method?: string;
  /** Behind the upstream's own URL, with its query, byte for byte as it is to be sent; begins with a slash. */
  readonly path: string;
  /**
   * Flat pairs, name and value in turn, sent as UTF-8. Those of the credentials take the place of others of their names, and
   * of any `Authorization`. Those of the connection (`Host`, `Content-Length`, `Connection`…) cannot be given. A frozen
   * array is checked once, however often it is sent.
   */
  readonly headers?: readonly string[];
  readonly body?: Buffer | string;
  /** Ends the request; what is thrown then is the signal's reason. */
  readonly signal?: AbortSignal;
  readonly deadlines?: Partial<Omit<Deadlines, "connect">>;
  /** The longest body that {@link Upstream.send} reads, bytes. @default 64 MiB */
  readonly limit?: number;
  /** Whether it takes a connection for long, as a watch does: those have connections of their own, as many as need be (without TLS 55 KiB each, of 1,000 open watches). @default false */
  readonly long?: boolean;
}

/** @throws Error on what cannot be a request */
export function checkOutgoing({ method = "GET", path }: Outgoing): void {
  if (!/^[A-Z]+$/.test(method) || method === "CONNECT")
    throw new Error(`method ${JSON.stringify(method)}: cannot be sent`);
  if (!/^\/[\x21-\x7e\x80-\xff]*$/.test(path))
    throw new Error("path: it begins with a slash, and spaces and characters beyond bytes are percent-encoded");
}
