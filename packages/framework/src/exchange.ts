import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiError } from "@virtual-workspaces/apimachinery";
import { Cancellation } from "@virtual-workspaces/transport";
import type { Decision } from "./authz/authorization.ts";
import type { ServerCore } from "./core.ts";
import { Warnings } from "./encode/respond.ts";
import type { Seat } from "./fairness/seats.ts";
import type { EndableWatch } from "./hooks/intercept.ts";
import { connectionOf } from "./listener/connections.ts";
import type { Mounted } from "./mounted.ts";
import type { Origin } from "./observe/audit/origin.ts";
import type { AuditedRequest, AuditRecord } from "./observe/audit/record.ts";
import type { LogRecord } from "./observe/log/log.ts";
import type { CachedList } from "./observe/observer.ts";
import type { DispatchedRequest } from "./request/dispatched.ts";
import { type RequestInfo, viaOf } from "./request/request-info.ts";
import { parseTraceParent, type TraceParent } from "./request/trace-parent.ts";
import type { User } from "./request/user.ts";
import type { ServedResource } from "./resource/served.ts";

/** Abort reason, made once: an error with its stack for every request that ends costs more than a GET. */
const OVER = new DOMException("the request is over", "AbortError");

/** One step of a request. It adds to the exchange, answers it, or throws an ApiError. Not async where it need not be. */
export type Stage<Known extends Exchange = Exchange> = (exchange: Known) => void | Promise<void>;

/** A request whose view is known, and the request info. */
export interface MatchedExchange extends Exchange {
  mounted: Mounted;
  info: RequestInfo;
}

/** A request whose caller is authenticated. */
export interface AuthenticatedExchange extends MatchedExchange {
  user: User;
}

/** A request that the view's rule has allowed. */
export interface AuthorizedExchange extends AuthenticatedExchange {
  decision: Decision;
}

interface Message {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly head?: Buffer;
  readonly dispatched?: DispatchedRequest;
}

/** Request to a middleware that an application has mounted: Express strips the path of the mount from the URL. */
export interface MountedRequest extends IncomingMessage {
  readonly baseUrl?: string;
}

/**
 * One request on its way through the pipeline. Each stage adds what the later ones need; the types of the stages state what
 * is established: {@link MatchedExchange}, {@link AuthenticatedExchange}, {@link AuthorizedExchange}.
 */
export class Exchange implements AuditedRequest {
  readonly core: ServerCore;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Bytes after the head of an upgrade request; only upgrades have them. */
  readonly upgradeHead: Buffer | undefined;
  /** Statements of the server that has dispatched the request within the process. */
  readonly dispatched: DispatchedRequest | undefined;
  /** The client's `Audit-ID`, as in Kubernetes, if it is short and plain; else a new one. */
  readonly requestId: string;
  readonly startedAt: number = performance.now();
  /** Remote address, read at once: a closed connection, or a stream of HTTP/2, no longer knows it. A dispatched request has none. */
  readonly peer: string | undefined;
  /** HTTP method as received: handlers may overwrite the request's own. */
  readonly method: string;
  /** Path before {@link path} that an application has stripped, "" in a server of its own. */
  readonly basePath: string;
  /** Path of the request target, as received. */
  readonly path: string;
  /** Query with its question mark, or "". Removed by the pages stage: observers must not record the query of a page. */
  search: string;
  #query: URLSearchParams | undefined;
  #cancellation: Cancellation | undefined;
  #warnings: Warnings | undefined;
  #trace: TraceParent | null | undefined;

  /** Error when no view serves the path: returned once the caller is authenticated. */
  unknown: ApiError | undefined;
  /** The same where a view has the prefix `/`: returned once that view has authorized the caller. */
  misfit: ApiError | undefined;
  // Set by the match stage, unless no view serves the path.
  mounted: Mounted | undefined;
  params: Readonly<Record<string, string>> = NO_PARAMS;
  prefix = "";
  tail = "";
  /** Set by the info stage, unless no view serves the path. */
  info: RequestInfo | undefined;
  /** Time that the request may take, ms; 0 without a deadline. Set by the deadline stage. */
  allowed = 0;
  /** Set while the deadline runs. */
  deadline: NodeJS.Timeout | undefined;
  /** Set by the fairness stage when the request need not wait: it gets a seat if it turns out to need one. */
  admitted = false;
  seat: Seat | undefined;
  // Set by the authenticate stage; logs of rejected requests have none.
  user: User | undefined;
  /** Number of API servers that forwarded the request. Set by the hops stage. */
  hops = 0;
  /** Whether `:cluster` of the path is resolved to a logical cluster. Set by the locate stage, where there is a hook. */
  located = false;
  /** Error of the locate stage. */
  unplaced: { readonly error: unknown } | undefined;
  /** Authenticated user who impersonates another one. Set by the impersonate stage. */
  impersonator: User | undefined;
  /** Verb of the constrained impersonation that allowed it. */
  impersonationConstraint: string | undefined;
  /** The caller's own bearer token, for a view that takes it. Set before the server strips it from the request. */
  token: string | undefined;
  /** `Impersonate-*` headers, for a view that forwards them. Set before the server strips them from the request. */
  impersonation: readonly string[] | undefined;
  /** Set by the authorize stage: a resource that is served without calling the view's rule. */
  review: ServedResource | undefined;
  /** Set by the authorize stage: the view's handler answers, whatever the path is. */
  handled = false;
  /**
   * Signal of a raw request: aborts when the server closes, or when the rule no longer allows the request. Made on first use.
   */
  ending: AbortSignal | undefined;
  /** Decision of the last rule; `undefined` when none was called, or it threw. */
  decision: Decision | undefined;
  /** Open watch. Set by the serve stage. */
  watch: EndableWatch | undefined;
  /** Resource that the request is about. Set by the serve stage. */
  served: ServedResource | undefined;
  /** Whether only metadata requests can see that resource. Set with it. */
  metadataOnly = false;
  /** Origin of the request, where it is recorded. */
  origin: Origin | undefined;
  /** Record for the audit events of the request; `undefined` before authentication, and without audit. */
  audited: AuditRecord | undefined;
  /** Whether an exception other than an API error was thrown: a bug of the server or of a view. */
  failed = false;
  /** Trace id of the server's own span, where spans are recorded. */
  spanTraceId: string | undefined;
  /** Whether an authenticator failed, even if another one authenticated the caller. */
  authenticatorFailed = false;
  /** Error for an unauthenticated caller, if it is not that the credentials are invalid. */
  unauthenticated: ApiError | undefined;
  /** Set when a stage takes over the response: later stages do not run. */
  answered = false;
  /** Objects of a list from the watch cache: read, and returned. */
  cachedList: CachedList | undefined;
  /** Set when the response, or the upgraded connection, has closed. Only observers read it. */
  ended = false;
  /** Set when the deadline has passed and has been answered. */
  expired = false;

  constructor(core: ServerCore, message: Message) {
    const { req, dispatched } = message;
    this.core = core;
    this.req = req;
    this.res = message.res;
    this.upgradeHead = message.head;
    this.dispatched = dispatched;
    this.requestId = dispatched?.requestId ?? givenId(req) ?? randomUUID();
    this.peer = dispatched === undefined ? connectionOf(req).remoteAddress : undefined;
    this.method = req.method ?? "";
    this.basePath = dispatched === undefined ? ((req as MountedRequest).baseUrl ?? "") : "";
    const url = dispatched?.target ?? req.url ?? "/";
    const at = url.indexOf("?");
    this.path = at === -1 ? url : url.slice(0, at);
    this.search = at === -1 ? "" : url.slice(at);
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.search);
    return this.#query;
  }

  /** Logical cluster that the path names, `*`, or "" where it names none. */
  get cluster(): string {
    return this.params["cluster"] ?? "";
  }

  /** The same for logs and metrics: "" until the path is resolved to a logical cluster. */
  get knownCluster(): string {
    if (this.mounted === undefined) return "";
    return this.located || !this.mounted.locates ? this.cluster : "";
  }

  /** Returns the value of `Via`: the servers that forwarded the request, and this view. */
  via(this: MatchedExchange): string {
    return viaOf(this.dispatched?.via ?? this.req.headers.via, this.mounted.name);
  }

  /** Trace context that the client sent (`traceparent`); the server does not check that the trace is the client's. */
  get trace(): TraceParent | undefined {
    if (this.#trace === undefined) this.#trace = traceOf(this.req) ?? null;
    return this.#trace ?? undefined;
  }

  /** Trace id of the request: of the server's own span if there is one, else of the client's. */
  get traceId(): string | undefined {
    return this.spanTraceId ?? this.trace?.traceId;
  }

  /** Writes a log record about this request. */
  log(record: LogRecord): void {
    const { requestId, traceId, knownCluster: cluster } = this;
    const more = { ...(cluster !== "" && { cluster }), ...(traceId !== undefined && { traceId }) };
    this.core.log({ ...record, requestId, ...more });
  }

  /** Adds a `Warning` header to the response. One bound holds for all sources of warnings together. */
  readonly warn = (text: string): void => {
    this.#warnings ??= new Warnings(this.res);
    this.#warnings.add(text);
  };

  /** Stream that closes at the end of the request: an upgraded connection outlives its response. */
  get stream(): ServerResponse | IncomingMessage["socket"] {
    return this.upgradeHead === undefined ? this.res : this.req.socket;
  }

  /** Is cancelled when the client leaves, when the deadline passes, or when the server stops waiting. Made on first use. */
  get cancellation(): Cancellation {
    if (this.#cancellation === undefined) {
      const cancellation = new Cancellation();
      this.#cancellation = cancellation;
      if (this.stream.destroyed || this.expired) cancellation.cancel(OVER);
    }
    return this.#cancellation;
  }

  /** Aborts as {@link cancellation} does. Made on first use. */
  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  /**
   * Lifts the deadline of an open-ended request.
   *
   * @throws ApiError 429 when too many are open
   */
  takeTime(this: AuthenticatedExchange): void {
    if (this.info.longRunning) return;
    const refusal = this.core.fairness.longRunning.take(this);
    if (refusal !== undefined) throw refusal;
    this.liftDeadline();
    this.dispatched?.takeTime();
    this.info = { ...this.info, longRunning: true };
  }

  liftDeadline(): void {
    this.allowed = 0;
    clearTimeout(this.deadline);
  }

  /** Ends the request when its response, or the upgraded connection, has closed. */
  close(): void {
    this.ended = true;
    for (const observer of this.core.observers) observer.ended(this);
    clearTimeout(this.deadline);
    this.#cancellation?.cancel(OVER);
    this.seat?.closed();
  }

  /** Whether the request has passed authentication. */
  isAuthenticated(): this is AuthenticatedExchange {
    return this.user !== undefined && this.mounted !== undefined && this.info !== undefined;
  }

  /** Gives up the seat: from here on the request does not count as under way. */
  leaveSeat(): void {
    this.admitted = false;
    this.seat?.release();
  }

  /** Stops waiting for the handler and aborts {@link signal}: later results of the handler are ignored. */
  expire(reason: unknown): void {
    this.expired = true;
    if (this.seat?.turn !== undefined) this.seat.release();
    this.#cancellation?.cancel(reason);
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Characters that need no quoting in JSON. */
const ID = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

function givenId({ headers }: IncomingMessage): string | undefined {
  const given = headers["audit-id"];
  return typeof given === "string" && ID.test(given) ? given : undefined;
}

/** Node joins two headers with a comma, which is not a valid value. */
function traceOf({ headers: { traceparent } }: IncomingMessage): TraceParent | undefined {
  return typeof traceparent === "string" ? parseTraceParent(traceparent) : undefined;
}
