import type { Change, ChangeType } from "./change.ts";

/** A change with the time of its row. */
export interface TimedChange extends Change {
  readonly time: number;
}

/** Changes that are kept; older ones go. */
const MOST = 20_000;

/** Of the same second and object, the later ones first. */
const ORDER: Readonly<Record<ChangeType, number>> = { deleted: 0, deleting: 1, changed: 2, created: 3 };

const byTime = (a: TimedChange, b: TimedChange): number =>
  b.time - a.time || b.version - a.version || ORDER[a.type] - ORDER[b.type];

/** The changes of a workspace, each once. */
export class ChangeLog {
  readonly #changes = new Map<string, Change>();
  readonly #began = Date.now();

  /** Time from which events are seen as they happen, in milliseconds. */
  get began(): number {
    return this.#began;
  }

  /** Adds changes. One of an event replaces the same one of a list, which knows less. */
  add(changes: readonly Change[], since: number): void {
    for (const one of changes) {
      if (one.time !== undefined && one.time < since) continue;
      const known = this.#changes.get(one.id);
      if (known === undefined || (one.version > 0 && known.version === 0) || one.isExact)
        this.#changes.set(one.id, one);
    }
    for (const id of this.#changes.keys()) {
      if (this.#changes.size <= MOST) break;
      this.#changes.delete(id);
    }
  }

  /** Time at which the server was at most at a version, in milliseconds: what comes after it is known since then. */
  timeOf(version: number): number {
    return this.#known().find((one) => one.version > version)?.time ?? this.#began;
  }

  /** The changes since a time, newest first. Those without a time of their own get a range: between the changes before and after them. */
  since(time: number): readonly TimedChange[] {
    const all = [...this.#changes.values()];
    const known = this.#known();
    const timed = all.map((one) => (one.time === undefined ? this.#withRange(one, known) : { ...one, time: one.time }));
    return timed.filter((one) => one.time >= time).sort(byTime);
  }

  /** Changes of events that have a time, by version. */
  #known(): readonly Change[] {
    const all = [...this.#changes.values()].filter((one) => one.time !== undefined && one.version > 0);
    return all.sort((a, b) => a.version - b.version);
  }

  #withRange(change: Change, known: readonly Change[]): TimedChange {
    const next = known.find(({ version }) => version >= change.version)?.time ?? this.#began;
    const before = known.findLast(({ version }) => version <= change.version)?.time ?? 0;
    return { ...change, time: Math.max(next, before), since: before };
  }
}
