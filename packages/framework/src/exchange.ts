import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { Decision } from "./authz/authorization.ts";
import type { ServerCore } from "./core.ts";
import { Warnings } from "./encode/respond.ts";
import type { Seat } from "./fairness/seats.ts";
import { connectionOf } from "./listener/connections.ts";
import type { Mounted } from "./mounted.ts";
import type { Origin } from "./observe/audit/origin.ts";
import type { AuditedRequest, AuditRecord } from "./observe/audit/record.ts";
import type { LogRecord } from "./observe/log/log.ts";
import { type RequestInfo, viaOf } from "./request/request-info.ts";
import { parseTraceParent, type TraceParent } from "./request/trace-parent.ts";
import type { User } from "./request/user.ts";
import type { ServedResource } from "./resource/served.ts";

/** Why signals abort, made once: an error with its stack for every request that ends costs more than a GET. */
const OVER = new DOMException("the request is over", "AbortError");

/** One step of a request. It adds to the exchange, answers it, or throws an ApiError. Not async where it need not be. */
export type Stage<Known extends Exchange = Exchange> = (exchange: Known) => void | Promise<void>;

/** A request whose view is known, and what it asks of that. */
export interface MatchedExchange extends Exchange {
  mounted: Mounted;
  info: RequestInfo;
}

/** A request whose caller is known. */
export interface AuthenticatedExchange extends MatchedExchange {
  user: User;
}

/** A request that the view's rule has allowed. */
export interface AuthorizedExchange extends AuthenticatedExchange {
  decision: Decision;
}

/**
 * One request on its way through the pipeline. Each stage adds what the ones after it need; what has been established by then
 * the types of stages say: {@link MatchedExchange}, {@link AuthenticatedExchange}, {@link AuthorizedExchange}.
 */
export class Exchange implements AuditedRequest {
  readonly core: ServerCore;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The bytes after an upgrade request's head; only upgrades have one. */
  readonly upgradeHead: Buffer | undefined;
  /** The client's `Audit-ID`, as in Kubernetes, if that is short and plain; else a new one. */
  readonly requestId: string;
  readonly startedAt: number = performance.now();
  /** The address that the connection came from, noted at once: one that has ended, or a stream of HTTP/2, does not know. */
  readonly peer: string | undefined;
  /** As it came: handlers may write over the request's own. */
  readonly method: string;
  /** The path of the request target as it came. */
  readonly path: string;
  /** The query with its question mark, or "". */
  readonly search: string;
  #query: URLSearchParams | undefined;
  #abort: AbortController | undefined;
  #warnings: Warnings | undefined;
  #trace: TraceParent | null | undefined;

  /** Why no view serves the path: answered once the caller is known. */
  unknown: ApiError | undefined;
  /** The same, where a view that has the rest is there: answered once that has let the caller know. */
  misfit: ApiError | undefined;
  // Set by the match stage, unless no view serves the path.
  mounted: Mounted | undefined;
  params: Readonly<Record<string, string>> = NO_PARAMS;
  prefix = "";
  tail = "";
  /** Set by the info stage, unless no view serves the path. */
  info: RequestInfo | undefined;
  /** Set by the deadline stage, unless there is none. */
  deadline: NodeJS.Timeout | undefined;
  /** Set by the fairness stage when the request need not wait: it has a seat when it turns out to take one. */
  admitted = false;
  seat: Seat | undefined;
  // Set by the authenticate stage; logs of refused requests have none.
  user: User | undefined;
  /** Through how many API servers it has come that passed it on. Set by the hops stage. */
  hops = 0;
  /** Whether the path's `:cluster` has become the name of a logical cluster. Set by the locate stage, where there is a hook. */
  located = false;
  /** Who logged in, where they go on as somebody else. Set by the impersonate stage. */
  impersonator: User | undefined;
  /** The caller's own bearer token, for a view that takes it. Set before it is taken off the request. */
  token: string | undefined;
  /** As whom the caller wants to go on, for a view that passes that on. Set before it is taken off the request. */
  impersonation: readonly string[] | undefined;
  /** Set by the authorize stage: what is served without the view having been asked. */
  review: ServedResource | undefined;
  /** Set by the authorize stage: the view's handler answers, whatever the path says. */
  handled = false;
  /** Of a raw request: when the server closes, or the rule says no by now. Made by whoever asks for it first. */
  ending: AbortSignal | undefined;
  /** What the rule that was asked last said; `undefined` when none was, or it threw. */
  decision: Decision | undefined;
  /** What the request turned out to be about. Set by the serve stage. */
  served: ServedResource | undefined;
  /** Whether that is there for those alone who ask for metadata. Set with it. */
  metadataOnly = false;
  /** Where the request came from, where somebody records it. */
  origin: Origin | undefined;
  /** What is kept of the request for its audit events; `undefined` before the caller is known, and without audit. */
  audited: AuditRecord | undefined;
  /** Whether something threw that is no answer: a fault of ours, or of a view's author. */
  failed = false;
  /** Of the span that our answer is, where spans are recorded. */
  spanTraceId: string | undefined;
  /** Whether an authenticator failed, whoever knew the caller in the end. */
  authenticatorFailed = false;
  /** What to tell a caller whom nobody knows, if it is not that the credentials are bad. */
  unauthenticated: ApiError | undefined;
  /** Set by whoever takes over the response: later stages are not run. */
  answered = false;
  /** Set when the answer, or the connection that it became, has closed: for observers, who alone are told. */
  ended = false;
  /** Set when the deadline has passed and been answered. */
  expired = false;

  constructor(core: ServerCore, message: { req: IncomingMessage; res: ServerResponse; head?: Buffer }) {
    this.core = core;
    this.req = message.req;
    this.res = message.res;
    this.upgradeHead = message.head;
    this.requestId = givenId(message.req) ?? randomUUID();
    this.peer = connectionOf(message.req).remoteAddress;
    this.method = message.req.method ?? "";
    const url = message.req.url ?? "/";
    const at = url.indexOf("?");
    this.path = at === -1 ? url : url.slice(0, at);
    this.search = at === -1 ? "" : url.slice(at);
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.search);
    return this.#query;
  }

  /** The logical cluster that the path names, `*`, or "" where it names none. */
  get cluster(): string {
    return this.params["cluster"] ?? "";
  }

  /** The same for what is written down: "" as long as it is not known which logical cluster a path leads to. */
  get knownCluster(): string {
    if (this.mounted === undefined) return "";
    return this.located || !this.mounted.locates ? this.cluster : "";
  }

  /** The servers that it has come through, as their `Via` says, and this view. */
  via(this: MatchedExchange): string {
    return viaOf(this.req.headers.via, this.mounted.name);
  }

  /** Where the client says that the request belongs (`traceparent`); it is not checked that the trace is the client's. */
  get trace(): TraceParent | undefined {
    if (this.#trace === undefined) this.#trace = traceOf(this.req) ?? null;
    return this.#trace ?? undefined;
  }

  /** The trace that the request is a part of: the one of our own span if there is one, else the client's. */
  get traceId(): string | undefined {
    return this.spanTraceId ?? this.trace?.traceId;
  }

  /** Logs something that is about this request. */
  log(record: LogRecord): void {
    const { requestId, traceId, knownCluster: cluster } = this;
    const more = { ...(cluster !== "" && { cluster }), ...(traceId !== undefined && { traceId }) };
    this.core.log({ ...record, requestId, ...more });
  }

  /** Adds a `Warning` header to the answer, whoever it is that warns: all of them are bounded together. */
  readonly warn = (text: string): void => {
    this.#warnings ??= new Warnings(this.res);
    this.#warnings.add(text);
  };

  /** Aborts when the client leaves, when the deadline passes, or when the server stops waiting. Made when first asked for. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      // An upgraded connection leaves its response behind.
      const stream = this.upgradeHead === undefined ? this.res : this.req.socket;
      stream.once("close", () => abort.abort(OVER));
      if (stream.destroyed || this.expired) abort.abort(OVER);
    }
    return this.#abort.signal;
  }

  /**
   * Lifts the deadline: whoever serves the request has said that it is open-ended.
   *
   * @throws ApiError 429 when too many are
   */
  takeTime(this: AuthenticatedExchange): void {
    if (this.info.longRunning) return;
    const refusal = this.core.fairness.longRunning.take(this);
    if (refusal !== undefined) throw refusal;
    clearTimeout(this.deadline);
    this.info = { ...this.info, longRunning: true };
  }

  /** Whether the request has come past authentication. */
  isAuthenticated(): this is AuthenticatedExchange {
    return this.user !== undefined && this.mounted !== undefined && this.info !== undefined;
  }

  /** Is no longer under way: what goes on from here on does so by itself. */
  leaveSeat(): void {
    this.admitted = false;
    this.seat?.release();
  }

  /** Gives up on whoever was asked, who hears of it by {@link signal}: what they still do is of no consequence. */
  expire(reason: unknown): void {
    this.expired = true;
    if (this.seat?.turn !== undefined) this.seat.release();
    this.#abort?.abort(reason);
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Nothing that would have to be quoted in JSON. */
const ID = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

function givenId({ headers }: IncomingMessage): string | undefined {
  const given = headers["audit-id"];
  return typeof given === "string" && ID.test(given) ? given : undefined;
}

/** Two of them are one text with a comma to Node, which is none. */
function traceOf({ headers: { traceparent } }: IncomingMessage): TraceParent | undefined {
  return typeof traceparent === "string" ? parseTraceParent(traceparent) : undefined;
}
