import type { Batch, StoreEvent, Watch } from "@virtual-workspaces/store";
import { expect } from "chai";

/** Reads a watch step by step, and checks what holds for every watch. */
export class Reader {
  readonly #watch: Watch;
  readonly #batches: AsyncIterator<Batch>;
  /** The revision of the last batch. */
  revision = 0;

  constructor(watch: Watch) {
    this.#watch = watch;
    this.#batches = watch[Symbol.asyncIterator]();
  }

  /** The next batch; fails at the end. */
  async next(): Promise<Batch> {
    return (await this.read()) ?? expect.fail("the watch has ended");
  }

  /** The next batch; `undefined` at the end. */
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

  /** All batches with events up to a revision that the store has. */
  async until(revision: number): Promise<Batch[]> {
    const batches: Batch[] = [];
    if (this.revision < revision) this.#watch.requestProgress();
    while (this.revision < revision) {
      const batch = await this.next();
      if (batch.events.length > 0) batches.push(batch);
    }
    return batches;
  }

  /** Until it ends. */
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
 * Batches to compare, their revisions counted from `base`: "7: a=1 b-", events in the order of their keys, with what
 * stood there before in brackets where it was asked for.
 */
export function told(batches: readonly Batch[], base: number): string[] {
  const event = ({ key, entry, previous }: StoreEvent): string =>
    `${key}${entry === undefined ? "-" : `=${entry.value}`}${previous === undefined ? "" : `(${previous.value})`}`;
  return batches.map(({ revision, events }) => [`${revision - base}:`, ...events.map(event).sort()].join(" "));
}
