import type { Awaitable } from "../util/awaitable.ts";
import { codeOf, type ObservedRequest, type Observer } from "./observer.ts";

/** What an access log is told of a request. Never holds credentials, the query, headers or bodies. */
export interface RequestRecord {
  /**
   * Kubernetes' audit stages. Every request ends with `ResponseComplete`; one that is long-running (a watch, an upgrade)
   * and still open when its answer has begun is told of then too, as `ResponseStarted`.
   */
  readonly stage: "ResponseStarted" | "ResponseComplete";
  /** The answer's `Audit-Id`. */
  readonly requestId: string;
  readonly method: string;
  /** Kubernetes' verb (`list`, `watch`), "" when the request was refused before it was known. */
  readonly verb: string;
  /** The path of the request target as it came. */
  readonly path: string;
  /** The logical cluster, `*` for all of them; "" where the path names none, or it was not known yet which one it leads to. */
  readonly cluster: string;
  /** The user's name, `undefined` when the request was refused before it was known. */
  readonly user: string | undefined;
  /** Who logged in, where they go on as `user` (Kubernetes' impersonation). */
  readonly impersonator: string | undefined;
  /** HTTP status, 0 when the client left before there was one. */
  readonly code: number;
  /** Since the head of the request was read, ms. */
  readonly duration: number;
  /** Of the trace that the request is a part of (W3C Trace Context). */
  readonly traceId: string | undefined;
}

/** Tells `tell` of requests. */
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
