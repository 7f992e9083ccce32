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
  /** What is read piece by piece is read at the other server's pace, and once: such a request is sent once, whatever comes of it. */
  readonly body?: Buffer | string | AsyncIterable<Buffer>;
  /** How long a body is that is read piece by piece, bytes; one of another length fails. @default unknown, it is sent in chunks */
  readonly length?: number;
  /** Ends the request; what is thrown then is the signal's reason. */
  readonly signal?: AbortSignal;
  readonly deadlines?: Partial<Omit<Deadlines, "connect">>;
  /** The longest body that {@link Upstream.send} reads, bytes. @default 64 MiB */
  readonly limit?: number;
  /** Whether it takes a connection for long, as a watch does: those have connections of their own, as many as need be (without TLS 55 KiB each, of 1,000 open watches). @default false */
  readonly long?: boolean;
}

/** A request to speak something else on its connection from then on. */
export interface OutgoingUpgrade extends Omit<Outgoing, "body" | "length" | "limit" | "long"> {
  /** What its `Upgrade` header says: `websocket`, `SPDY/3.1`. */
  readonly protocol: string;
}

/** Whether a body can be sent once only. */
export function isStreamed(body: Outgoing["body"]): body is AsyncIterable<Buffer> {
  return typeof body === "object" && !Buffer.isBuffer(body);
}

/** @throws Error on what cannot be a request */
export function checkOutgoing({ method = "GET", path, body, length }: Outgoing): void {
  if (length !== undefined && !(isStreamed(body) && Number.isSafeInteger(length) && length >= 0))
    throw new Error("length: give bytes, and only of a body that is read piece by piece");
  if (!/^[A-Z]+$/.test(method) || method === "CONNECT")
    throw new Error(`method ${JSON.stringify(method)}: cannot be sent`);
  if (!/^\/[\x21-\x7e\x80-\xff]*$/.test(path))
    throw new Error("path: it begins with a slash, and spaces and characters beyond bytes are percent-encoded");
}
