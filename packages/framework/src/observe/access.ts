import type { Awaitable } from "../util/awaitable.ts";
import { codeOf, type ObservedRequest, type Observer } from "./observer.ts";

/** Record of an access log. Security: it never contains credentials, the query, headers or bodies. */
export interface RequestRecord {
  /**
   * Kubernetes' audit stages. Every request ends with `ResponseComplete`; a long-running one (a watch, an upgrade) that is
   * still open when its response has begun is also recorded as `ResponseStarted`.
   */
  readonly stage: "ResponseStarted" | "ResponseComplete";
  /** The response's `Audit-Id`. */
  readonly requestId: string;
  readonly method: string;
  /** Kubernetes' verb (`list`, `watch`), "" when the request was rejected before it was known. */
  readonly verb: string;
  /** Path of the request target, as received. */
  readonly path: string;
  /** Logical cluster, `*` for all of them; "" where the path names none, or it was not resolved yet. */
  readonly cluster: string;
  /** User name, `undefined` when the request was rejected before authentication. */
  readonly user: string | undefined;
  /** Authenticated user who impersonates `user` (Kubernetes' impersonation). */
  readonly impersonator: string | undefined;
  /** HTTP status, 0 when the client left before there was one. */
  readonly code: number;
  /** Time since the head of the request was read, ms. */
  readonly duration: number;
  /** Trace of the request (W3C Trace Context). */
  readonly traceId: string | undefined;
}

/** Returns an observer that calls `tell` with each record. */
export function accessLog(tell: (record: RequestRecord) => Awaitable<void>): Observer {
  const report = (request: ObservedRequest, stage: RequestRecord["stage"]): void => {
    const failed = (error: unknown): void =>
      request.log({ level: "error", message: "onRequest failed", error: String(error) });
    try {
      const told = tell(recordOf(request, stage));
      if (told !== undefined) Promise.resolve(told).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
  return {
    started: (request) => report(request, "ResponseStarted"),
    ended: (request) => report(request, "ResponseComplete"),
  };
}

function recordOf(request: ObservedRequest, stage: RequestRecord["stage"]): RequestRecord {
  const { requestId, method, path, startedAt, info } = request;
  return {
    stage,
    requestId,
    method,
    verb: info?.verb ?? "",
    path,
    cluster: request.knownCluster,
    user: request.user?.name,
    impersonator: request.impersonator?.name,
    code: codeOf(request),
    duration: performance.now() - startedAt,
    traceId: request.traceId,
  };
}
