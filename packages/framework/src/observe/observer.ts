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

/** View of a request, as observers see it. */
export interface ObservedView extends Matchable {
  readonly workspace: VirtualWorkspace;
  readonly indexes: ResourceIndexes;
}

/** Numbers of objects of a list that the watch cache has answered. */
export interface CachedList {
  /** Objects read from the cache. */
  readonly fetched: number;
  readonly returned: number;
}

/**
 * A request as observers see it, at any time: members not known yet, or never known because of a rejection, are `undefined`.
 */
export interface ObservedRequest {
  readonly core: {
    readonly observers: readonly Observer[];
    /** The server's views of its own, by path. */
    readonly ownViews: ReadonlyMap<string, ObservedView>;
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
  readonly impersonationConstraint: string | undefined;
  readonly decision: Decision | undefined;
  readonly served: ServedResource | undefined;
  /** Logical cluster, "" until it is known. */
  readonly knownCluster: string;
  readonly located: boolean;
  readonly authenticatorFailed: boolean;
  readonly unauthenticated: ApiError | undefined;
  readonly answered: boolean;
  /** Set when the watch cache has answered a list. */
  readonly cachedList: CachedList | undefined;
  readonly failed: boolean;
  /** Set when the response has closed. */
  ended: boolean;
  readonly trace: TraceParent | undefined;
  readonly traceId: string | undefined;
  /** Set by the recorder of spans. */
  spanTraceId: string | undefined;
  readonly signal: AbortSignal;
  /** Stream that closes at the end of the request: an upgraded connection outlives its response. */
  readonly stream: ServerResponse | IncomingMessage["socket"];
  log(record: LogRecord): void;
}

/** Observer of requests: the access log, audit, metrics. It must not throw. */
export interface Observer {
  /** Called when the head has been read. */
  began?(request: ObservedRequest): void;
  /** Called when the response of a long-running request (a watch, an upgrade) has begun, and goes on. */
  started?(request: ObservedRequest): void;
  /** Called when the request is over, however it ended. */
  ended(request: ObservedRequest): void;
}

/** Returns the status of the response, 101 for an upgrade; 0 when the client left before there was one. */
export function codeOf({ res, upgradeHead, answered }: ObservedRequest): number {
  if (res.headersSent) return res.statusCode;
  return upgradeHead !== undefined && answered ? 101 : 0;
}
