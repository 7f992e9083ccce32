/** Time after which a server has forgiven all failures of an address, ms. */
const LASTING = 100_000;
const MOST = 10_000;

/** Failed authentications of the last 100 s, for workers that begin later: a new worker must not forgive them. */
export class RecentFailures {
  #failures: { readonly network: string; readonly at: number }[] = [];

  add(network: string): void {
    if (this.#failures.length >= MOST) this.#failures = this.#failures.slice(MOST / 2);
    this.#failures.push({ network, at: performance.now() });
  }

  /** Networks, once for each failure. */
  get networks(): readonly string[] {
    const oldest = performance.now() - LASTING;
    this.#failures = this.#failures.filter(({ at }) => at >= oldest);
    return this.#failures.map(({ network }) => network);
  }
}
