import { causeOfFault, upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import type { Upstream } from "@virtual-workspaces/transport";
import { answeredError, checkJson } from "./answer.ts";

/** How long an answer may take, ms. */
const PATIENCE = 5_000;
/** How long a good answer and a bad one are believed, ms. */
const BELIEVED = { good: 2_000, bad: 500 } as const;

/** Whether the other server answers at all: asked for its `/version`, as ourselves, no more often than need be. */
export class Readiness {
  readonly #upstream: Upstream;
  readonly #ask = askedOnce(() => this.#probe());
  #until = Number.NEGATIVE_INFINITY;
  #problem: unknown;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** @throws Error that names the other server and what is wrong with it: for logs, no client is told */
  async check(): Promise<void> {
    if (performance.now() >= this.#until) await this.#ask();
    if (this.#problem !== undefined) throw this.#problem;
  }

  async #probe(): Promise<void> {
    const asked = { origin: new URL(this.#upstream.url).origin };
    try {
      const answer = await this.#upstream.send({
        path: "/version",
        headers: ["Accept", "application/json"],
        deadlines: { head: PATIENCE, idle: PATIENCE },
      });
      // 403 and 404 come from a server that is up; a 401 is what every request of ours would be answered.
      if (answer.status === 401) throw answeredError(answer, asked);
      if (answer.status >= 500) throw upstreamFault(asked.origin, `answered ${answer.status}`);
      // A load balancer's page says that there is a load balancer.
      if (answer.status === 200) checkJson(answer.headers, asked);
      this.#problem = undefined;
    } catch (error) {
      this.#problem = causeOfFault(upstreamFailure(error, asked)) ?? error;
    }
    this.#until = performance.now() + (this.#problem === undefined ? BELIEVED.good : BELIEVED.bad);
  }
}

/** Asks a question that is not asked again while it is under way: whoever asks meanwhile gets the same answer. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/**
 * For `ready` of a virtual workspace whose storages have none of their own: resolves while a server answers, whatever it
 * answers, and rejects while it does not, or does not take our credentials, with an error that names it: for logs. Asked once
 * in two seconds at most, however many views ask; a server that says nothing has five.
 */
export function reachable(upstream: Upstream): () => Promise<void> {
  const readiness = new Readiness(upstream);
  return () => readiness.check();
}
