import type { Batch, StoreEvent, Watch } from "@virtual-workspaces/store";
import { expect } from "chai";

/** Reads a watch step by step, and checks invariants of all watches. */
export class Reader {
  readonly #watch: Watch;
  readonly #batches: AsyncIterator<Batch>;
  /** Revision of the last batch. */
  revision = 0;

  constructor(watch: Watch) {
    this.#watch = watch;
    this.#batches = watch[Symbol.asyncIterator]();
  }

  /** Returns the next batch; fails at the end. */
  async next(): Promise<Batch> {
    return (await this.read()) ?? expect.fail("the watch has ended");
  }

  /** Returns the next batch; `undefined` at the end. */
  async read(): Promise<Batch | undefined> {
    const { done, value } = await this.#batches.next();
    if (done === true) return undefined;
    const { revision, events } = value;
    if (events.length === 0) expect(revision, "progress does not go back").to.be.at.least(this.revision);
    else expect(revision, "revisions of events rise").to.be.above(this.revision);
    for (const { entry } of events) if (entry !== undefined) expect(entry.modRevision).to.equal(revision);
    this.revision = revision;
    return value;
  }

  /** Returns all batches with events up to an existing revision. */
  async until(revision: number): Promise<Batch[]> {
    const batches: Batch[] = [];
    if (this.revision < revision) this.#watch.requestProgress();
    while (this.revision < revision) {
      const batch = await this.next();
      if (batch.events.length > 0) batches.push(batch);
    }
    return batches;
  }

  /** Reads to the end. */
  async rest(): Promise<Batch[]> {
    const batches: Batch[] = [];
    for (let batch = await this.read(); batch !== undefined; batch = await this.read()) batches.push(batch);
    return batches;
  }

  requestProgress(): void {
    this.#watch.requestProgress();
  }

  async leave(): Promise<void> {
    await this.#batches.return?.();
  }
}

/**
 * Formats batches for comparison, with revisions relative to `base`: "7: a=1 b-", events in the order of their keys, with a
 * requested previous value in brackets.
 */
export function told(batches: readonly Batch[], base: number): string[] {
  const event = ({ key, entry, previous }: StoreEvent): string =>
    `${key}${entry === undefined ? "-" : `=${entry.value}`}${previous === undefined ? "" : `(${previous.value})`}`;
  return batches.map(({ revision, events }) => [`${revision - base}:`, ...events.map(event).sort()].join(" "));
}
