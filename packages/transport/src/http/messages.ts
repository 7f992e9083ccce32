import type { Duplex } from "node:stream";
import type { Cancellation } from "../time/cancellation.ts";
import type { BodySink, SinkControl } from "./body.ts";
import type { ResponseHeaders } from "./headers.ts";

/** Request to an upstream. */
export interface Outgoing {
  /** @default "GET" */
  readonly method?: string;
  /** Path after the upstream's URL, with its query, sent byte for byte; begins with a slash. */
  readonly path: string;
  /**
   * Flat pairs, name and value in turn, sent as UTF-8. Headers of the credentials replace those of the same names, and any
   * `Authorization`. Headers of the connection (`Host`, `Content-Length`, `Connection`…) are rejected. A frozen array is
   * checked once, however often it is sent.
   */
  readonly headers?: readonly string[];
  /** A stream is read once, at the upstream's pace. Such a request is never retried. */
  readonly body?: Buffer | string | AsyncIterable<Buffer>;
  /** Length of a streamed body, in bytes; another length fails. @default unknown: sent in chunks */
  readonly length?: number;
  /** Aborts the request, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Ends the request like {@link signal}, at a fraction of its cost. */
  readonly cancellation?: Cancellation | undefined;
  readonly deadlines?: Partial<Omit<Deadlines, "connect">>;
  /** Maximum size of a body that {@link Upstream.send} reads, in bytes. @default 64 MiB */
  readonly limit?: number;
  /**
   * Whether the request is long-running, such as a watch. These do not count against the connection limit (55 KiB each
   * without TLS, measured with 1,000 open watches).
   * @default false
   */
  readonly long?: boolean;
}

/** Request to switch its connection to another protocol. */
export interface OutgoingUpgrade extends Omit<Outgoing, "body" | "length" | "limit" | "long"> {
  /** Value of the `Upgrade` header: `websocket`, `SPDY/3.1`. */
  readonly protocol: string;
}

/** Whether a body can be sent only once. */
export function isStreamed(body: Outgoing["body"]): body is AsyncIterable<Buffer> {
  return typeof body === "object" && !Buffer.isBuffer(body);
}

/** @throws Error for an invalid request */
export function checkOutgoing({ method = "GET", path, body, length }: Outgoing): void {
  if (length !== undefined && !(isStreamed(body) && Number.isSafeInteger(length) && length >= 0))
    throw new Error("invalid length: use bytes, and only with a streamed body");
  if (!/^[A-Z]+$/.test(method) || method === "CONNECT")
    throw new Error(`invalid method ${JSON.stringify(method)}: use an HTTP method`);
  if (!/^\/[\x21-\x7e\x80-\xff]*$/.test(path))
    throw new Error("invalid path: begin with a slash, and percent-encode spaces and characters beyond bytes");
}

/** Time limits, ms; `Infinity` for none. */
export interface Deadlines {
  /** Until the connection is ready, including TLS. @default 5000 */
  readonly connect: number;
  /** From the call until the response's head arrives, including waits for credentials and connections, and a retry. @default 30000 */
  readonly head: number;
  /**
   * Between two chunks of a body, while its reader waits. A body that trickles never times out: abort it by a signal.
   * @default 30000
   */
  readonly idle: number;
}

/** Deadlines of requests without their own. */
export const defaultDeadlines: Deadlines = Object.freeze({ connect: 5_000, head: 30_000, idle: 30_000 });

/** Returns the deadlines of `own`, and missing ones from `others`. @throws Error for an invalid duration */
export function resolvedDeadlines(own: Partial<Deadlines> | undefined, others: Deadlines): Deadlines {
  if (own === undefined) return others;
  const of = (name: keyof Deadlines): number => {
    const ms = own[name] ?? others[name];
    if (ms > 0) return ms;
    throw new Error(`invalid deadlines.${name}: use milliseconds above 0, or Infinity`);
  };
  return { connect: of("connect"), head: of("head"), idle: of("idle") };
}

interface Response {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** Response with its whole body. */
export interface WholeResponse extends Response {
  readonly body: Buffer;
  /** Immutable object that `body` encodes, from a server of the same process that has it. @default none */
  readonly object?: unknown;
}

/**
 * Response whose body is streamed at the reader's pace. Read or dispose of it: otherwise it holds its connection until the
 * idle deadline, which only runs during reads.
 */
export interface StreamedResponse extends Response, AsyncDisposable {
  /** Fails with a {@link TransportError} if the connection ends early. Can be read once. */
  readonly body: AsyncIterable<Buffer>;
  /** Returns the whole body if it is complete and unread: a short one arrives with its head. Otherwise stream it. */
  readonly whole?: () => Buffer | undefined;
  /** Gives the unread body to a sink, which costs less than reading it. */
  readonly into?: (sink: BodySink) => SinkControl;
}

/** Response of an upstream that switches protocols (101). */
export interface UpgradedResponse extends Response {
  readonly status: 101;
  /** Connection after the response's head. The caller must end it; closing the upstream ends it too. */
  readonly socket: Duplex;
}

/** Whether the upstream has accepted an upgrade. */
export function isUpgraded(answer: StreamedResponse | UpgradedResponse): answer is UpgradedResponse {
  return "socket" in answer;
}
