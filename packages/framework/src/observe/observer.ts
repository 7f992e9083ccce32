import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { Decision } from "../authz/authorization.ts";
import type { ResourceIndexes } from "../hooks/hooks.ts";
import type { Matchable } from "../request/path.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { TraceParent } from "../request/trace-parent.ts";
import type { User } from "../request/user.ts";
import type { ServedResource } from "../resource/served.ts";
import type { VirtualWorkspace } from "../virtual-workspace.ts";
import type { LogRecord } from "./log/log.ts";

/** The view that a request is for, as those see it who observe requests. */
export interface ObservedView extends Matchable {
  readonly workspace: VirtualWorkspace;
  readonly indexes: ResourceIndexes;
}

/**
 * A request as those see it who observe it, at any time: what is not known yet, or never will be as the request was rejected
 * before, is `undefined`.
 */
export interface ObservedRequest {
  readonly core: {
    readonly observers: readonly Observer[];
    /** The view that answers at `/metrics`. */
    readonly metrics: ObservedView | undefined;
  };
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly upgradeHead: Buffer | undefined;
  readonly requestId: string;
  readonly startedAt: number;
  readonly peer: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly mounted: ObservedView | undefined;
  readonly info: RequestInfo | undefined;
  readonly user: User | undefined;
  readonly impersonator: User | undefined;
  readonly decision: Decision | undefined;
  readonly served: ServedResource | undefined;
  /** The logical cluster, "" as long as it is not known. */
  readonly knownCluster: string;
  readonly located: boolean;
  readonly authenticatorFailed: boolean;
  readonly unauthenticated: ApiError | undefined;
  readonly answered: boolean;
  readonly failed: boolean;
  /** Set when the answer has closed. */
  ended: boolean;
  readonly trace: TraceParent | undefined;
  readonly traceId: string | undefined;
  /** Set by whoever records spans. */
  spanTraceId: string | undefined;
  readonly signal: AbortSignal;
  log(record: LogRecord): void;
}

/** Who wants to know of requests: the access log, audit, metrics. Must not throw. */
export interface Observer {
  /** The head has been read. */
  began?(request: ObservedRequest): void;
  /** The answer has begun of a request that is long-running (a watch, an upgrade), and goes on. */
  started?(request: ObservedRequest): void;
  /** It is over, however it ended. */
  ended(request: ObservedRequest): void;
}

/** The one place that knows when a request begins and when it is over, whatever the protocol. */
export function observe(request: ObservedRequest, observers: readonly Observer[]): void {
  // Not `once`, which makes two more objects for each request: there is one `close`.
  streamOf(request).on("close", () => {
    request.ended = true;
    for (const observer of observers) observer.ended(request);
  });
  for (const observer of observers) observer.began?.(request);
}

/** What closes when a request is over: an upgraded connection leaves its response behind. */
export function streamOf({
  upgradeHead,
  res,
  req,
}: Pick<ObservedRequest, "upgradeHead" | "res" | "req">): ServerResponse | IncomingMessage["socket"] {
  return upgradeHead === undefined ? res : req.socket;
}

/** The status of the answer, 101 for an upgrade; 0 when the client left before there was one. */
export function codeOf({ res, upgradeHead, answered }: ObservedRequest): number {
  if (res.headersSent) return res.statusCode;
  return upgradeHead !== undefined && answered ? 101 : 0;
}
