import { causeOfFault, upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import type { Upstream } from "@virtual-workspaces/transport";
import { answeredError, checkJson } from "./answer.ts";

/** Timeout of a check, in ms. */
const PATIENCE = 5_000;
/** Time to cache a success and a failure, in ms. */
const BELIEVED = { good: 2_000, bad: 500 } as const;

/** Checks whether the upstream answers `/version` with our own identity, and caches the result. */
export class Readiness {
  readonly #upstream: Upstream;
  readonly #probeOnce = sharedCall(() => this.#probe());
  #until = Number.NEGATIVE_INFINITY;
  #problem: unknown;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** @throws Error that names the upstream and the fault: for logs, not for clients */
  async check(): Promise<void> {
    if (performance.now() >= this.#until) await this.#probeOnce();
    if (this.#problem !== undefined) throw this.#problem;
  }

  async #probe(): Promise<void> {
    const source = { origin: new URL(this.#upstream.url).origin };
    try {
      const answer = await this.#upstream.send({
        path: "/version",
        headers: ["Accept", "application/json"],
        deadlines: { head: PATIENCE, idle: PATIENCE },
      });
      // 403 and 404 prove that the server runs; after a 401, all our requests would fail.
      if (answer.status === 401) throw answeredError(answer, source);
      if (answer.status >= 500) throw upstreamFault(source.origin, `answered ${answer.status}`);
      // The page of a load balancer proves only that there is a load balancer.
      if (answer.status === 200) checkJson(answer.headers, source);
      this.#problem = undefined;
    } catch (error) {
      this.#problem = causeOfFault(upstreamFailure(error, source)) ?? error;
    }
    this.#until = performance.now() + (this.#problem === undefined ? BELIEVED.good : BELIEVED.bad);
  }
}

/** Makes concurrent callers of a function share one call. */
function sharedCall<T>(call: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= call().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/**
 * Creates a readiness check (`ready`) for a virtual workspace whose storages have none: resolves while a server answers
 * anything. It rejects if there is no answer within 5 s, or the server rejects our credentials, with an error for logs that
 * names it. Sends at most one request per 2 s for all views.
 */
export function reachable(upstream: Upstream): () => Promise<void> {
  const readiness = new Readiness(upstream);
  return () => readiness.check();
}
