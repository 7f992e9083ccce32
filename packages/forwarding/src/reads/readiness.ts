import { checkJson } from "../outbound/answer.ts";
import { answeredError, causeOfFault, upstreamFailure, upstreamFault } from "../outbound/failure.ts";
import type { UpstreamResource } from "../outbound/upstream-resource.ts";
import { askedOnce } from "./asked-once.ts";

/** How long an answer may take, ms. */
const PATIENCE = 5_000;
/** How long a good answer and a bad one are believed, ms. */
const BELIEVED = { good: 2_000, bad: 500 } as const;

/** Whether the other server answers at all: asked for its `/version`, as ourselves, no more often than need be. */
export class Readiness {
  readonly #resource: UpstreamResource;
  readonly #ask = askedOnce(() => this.#probe());
  #until = Number.NEGATIVE_INFINITY;
  #problem: unknown;

  constructor(resource: UpstreamResource) {
    this.#resource = resource;
  }

  /** @throws Error that names the other server and what is wrong with it: for logs, no client is told */
  async check(): Promise<void> {
    if (performance.now() >= this.#until) await this.#ask();
    if (this.#problem !== undefined) throw this.#problem;
  }

  async #probe(): Promise<void> {
    const resource = this.#resource;
    try {
      const answer = await resource.upstream.send({
        path: "/version",
        headers: ["Accept", "application/json"],
        deadlines: { head: PATIENCE, idle: PATIENCE },
      });
      // 403 and 404 come from a server that is up; a 401 is what every request of ours would be answered.
      if (answer.status === 401) throw answeredError(answer, resource);
      if (answer.status >= 500) throw upstreamFault(resource.origin, `answered ${answer.status}`);
      // A load balancer's page says that there is a load balancer.
      if (answer.status === 200) checkJson(answer.headers, resource);
      this.#problem = undefined;
    } catch (error) {
      this.#problem = causeOfFault(upstreamFailure(error, resource)) ?? error;
    }
    this.#until = performance.now() + (this.#problem === undefined ? BELIEVED.good : BELIEVED.bad);
  }
}
