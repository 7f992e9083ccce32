import { type MetricFamily, processFamilies, sumOfMetrics } from "@virtual-workspaces/framework/server";

/** Time to wait for the metrics of a worker, ms. */
const PATIENCE = 1_000;

type Families = readonly MetricFamily[];

/** A worker that has metrics. */
export interface MeteredWorker {
  readonly families: () => Promise<Families>;
}

/**
 * Metrics of all workers and of the primary process as those of one. Counters of workers that have ended stay, as they were at the last
 * scrape, so that no sum falls.
 */
export class SummedMetrics<Worker extends MeteredWorker> {
  readonly #last = new Map<Worker, Families>();
  #ended: Families = [];

  /** @param own of the primary process, besides those of any process */
  async of(workers: readonly Worker[], known: ReadonlyMap<Worker, Families>, own: Families): Promise<Families> {
    const all = await Promise.all(workers.map(async (worker) => known.get(worker) ?? (await this.#of(worker))));
    for (const [at, worker] of workers.entries()) this.#last.set(worker, all[at] ?? []);
    return sumOfMetrics([own, await processFamilies(), this.#ended, ...all]);
  }

  /** Keeps the counters of a worker that has ended. */
  leave(worker: Worker): void {
    const last = this.#last.get(worker) ?? [];
    this.#last.delete(worker);
    this.#ended = sumOfMetrics([this.#ended, last.filter(({ type }) => type !== "gauge")]);
  }

  /** A worker that does not answer in time has its last metrics. */
  async #of(worker: Worker): Promise<Families> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, PATIENCE, undefined);
    const families = await Promise.race([worker.families().catch(() => undefined), late]);
    clearTimeout(timer);
    return families ?? this.#last.get(worker) ?? [];
  }
}
