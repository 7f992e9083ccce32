import type { StoreError } from "../store-error.ts";

/** Shorter gaps are not reported, in ms: a member that restarts, or the election of a leader. */
const GAP = 1000;

/** Reports once when etcd, which has answered before, stops answering, and once when it answers again. */
export class Outage {
  readonly #report: (problem: StoreError | undefined) => void;
  #hasAnswered = false;
  #failingSince: number | undefined;
  #isReported = false;

  constructor(report: (problem: StoreError | undefined) => void = () => undefined) {
    this.#report = report;
  }

  failed(problem: StoreError): void {
    if (!this.#hasAnswered || this.#isReported) return;
    this.#failingSince ??= performance.now();
    if (performance.now() - this.#failingSince < GAP) return;
    this.#isReported = true;
    this.#report(problem);
  }

  answered(): void {
    this.#hasAnswered = true;
    this.#failingSince = undefined;
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#report(undefined);
  }
}
