import type { Clock } from "@virtual-workspaces/transport";
import type { Endpoint, RunningEndpoint } from "./endpoint.ts";

export interface HandOverOptions {
  readonly clock: Clock;
  /** The longest that is waited, ms. */
  readonly patience: number;
  readonly release: (endpoint: Endpoint) => void;
}

interface Waiting {
  readonly endpoint: Endpoint;
  /** Those that may show what the endpoint has shown, and have not shown all yet. */
  readonly heirs: Set<RunningEndpoint>;
  readonly timer: Disposable;
}

/**
 * What an endpoint showed that goes is not gone as long as another one, which was there by then, may still turn out to show
 * it: a workspace that moves to another shard leaves one list as it appears in the other.
 */
export class HandOver implements Disposable {
  readonly #options: HandOverOptions;
  readonly #waiting = new Set<Waiting>();

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Releases an endpoint that goes once these are ready, or go themselves, or time is up. */
  begin(endpoint: Endpoint, heirs: readonly RunningEndpoint[]): void {
    const { clock, patience } = this.#options;
    const waiting: Waiting = {
      endpoint,
      heirs: new Set(heirs),
      timer: clock.after(patience, () => this.#release(waiting)),
    };
    this.#waiting.add(waiting);
    this.look();
  }

  /** To be called whenever the status of an endpoint has changed. */
  look(): void {
    for (const waiting of [...this.#waiting]) {
      for (const heir of waiting.heirs)
        if (heir.status.ready === "True" || heir.status.reason === "Stopping") waiting.heirs.delete(heir);
      if (waiting.heirs.size === 0) this.#release(waiting);
    }
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting) timer[Symbol.dispose]();
    this.#waiting.clear();
  }

  #release(waiting: Waiting): void {
    waiting.timer[Symbol.dispose]();
    if (this.#waiting.delete(waiting)) this.#options.release(waiting.endpoint);
  }
}
