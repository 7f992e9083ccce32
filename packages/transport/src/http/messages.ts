import type { Duplex } from "node:stream";
import type { ResponseHeaders } from "./headers.ts";

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

/** How long may pass, ms; `Infinity` for ever. */
export interface Deadlines {
  /** Until there is a connection, TLS included. @default 5000 */
  readonly connect: number;
  /**
   * From the call until the answer's head has come: waiting for credentials, for a free connection and for a new one
   * included, and a second try, too. @default 30000
   */
  readonly head: number;
  /** Between two pieces of a body, while somebody wants to read it. One that trickles has no end: a signal ends it. @default 30000 */
  readonly idle: number;
}

/** What holds for a request that says nothing else. */
export const defaultDeadlines: Deadlines = Object.freeze({ connect: 5_000, head: 30_000, idle: 30_000 });

/** Those of `own` that are set, the others from `others`. @throws Error on what is no length of time */
export function resolvedDeadlines(own: Partial<Deadlines> | undefined, others: Deadlines): Deadlines {
  if (own === undefined) return others;
  const of = (name: keyof Deadlines): number => {
    const ms = own[name] ?? others[name];
    if (ms > 0) return ms;
    throw new Error(`deadlines.${name}: give milliseconds above 0, or Infinity`);
  };
  return { connect: of("connect"), head: of("head"), idle: of("idle") };
}

interface Response {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** An answer, read to its end. */
export interface WholeResponse extends Response {
  readonly body: Buffer;
}

/**
 * An answer whose body is read piece by piece, at the reader's pace. Read it, or end it: else it holds its connection until
 * the idle deadline, which does not run while nobody reads, has passed.
 */
export interface StreamedResponse extends Response, AsyncDisposable {
  /** Ends early, with a {@link TransportError}, when the connection does. Can be read once. */
  readonly body: AsyncIterable<Buffer>;
  /** Takes all of the body, if all of it has come and nothing of it was read: a short one comes with its head. Else it is to be read piece by piece. */
  readonly whole?: () => Buffer | undefined;
}

/** The other server speaks something else from now on (101). */
export interface UpgradedResponse extends Response {
  readonly status: 101;
  /** The connection, as it is behind the answer's head. Whoever gets it ends it; closing the upstream ends it too. */
  readonly socket: Duplex;
}

/** Whether the other server has taken an upgrade. */
export function isUpgraded(answer: StreamedResponse | UpgradedResponse): answer is UpgradedResponse {
  return "socket" in answer;
}
