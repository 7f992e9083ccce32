import type { Change, ChangeType } from "./change.ts";

/** A change with the time of its row. */
export interface TimedChange extends Change {
  readonly time: number;
}

/** Changes that are kept, and so many more before the oldest ones go. */
const [MOST, SPARE] = [10_000, 5_000];

/** Of the same second and object, the later ones first. */
const ORDER: Readonly<Record<ChangeType, number>> = { deleted: 0, deleting: 1, changed: 2, created: 3 };

const byTime = (a: TimedChange, b: TimedChange): number =>
  b.time - a.time || b.version - a.version || ORDER[a.type] - ORDER[b.type];

type Known = Change & { readonly time: number };

/** The changes of a workspace, each once: the newest ones. */
export class ChangeLog {
  readonly #changes = new Map<string, Change>();
  readonly #began = Date.now();
  /** Changes of events that have a time, by version; undefined after a change. */
  #sorted: readonly Known[] | undefined;
  /** Older changes have been dropped. */
  #floor = 0;

  /** Time from which events are seen as they happen, in milliseconds. */
  get began(): number {
    return this.#began;
  }

  /** Time before which changes are missing since there are too many, in milliseconds; 0 if all are there. */
  get floor(): number {
    return this.#floor;
  }

  get size(): number {
    return this.#changes.size;
  }

  /** Adds changes that are not older than a time. One of an event replaces the same one of a list, which knows less. */
  add(changes: readonly Change[], since: number): void {
    const first = Math.max(since, this.#floor);
    for (const one of changes) {
      if (one.time !== undefined && one.time < first) continue;
      const known = this.#changes.get(one.id);
      if (known === undefined || (one.version > 0 && known.version === 0) || one.isExact)
        this.#changes.set(one.id, one);
    }
    this.#sorted = undefined;
    if (this.#changes.size > MOST + SPARE) this.#drop();
  }

  /** Time at which the server was at most at a version, in milliseconds: what comes after it is known since then. */
  timeOf(version: number): number {
    const known = this.#known();
    return known[firstAfter(known, version)]?.time ?? this.#began;
  }

  /** The changes since a time, newest first. Those without a time of their own get a range: between the changes before and after them. */
  since(time: number): readonly TimedChange[] {
    const timed = [...this.#changes.values()].map((one) => (isTimed(one) ? one : this.#withRange(one)));
    return timed.filter((one) => one.time >= time).sort(byTime);
  }

  #drop(): void {
    const all = this.since(0);
    for (const { id } of all.slice(MOST)) this.#changes.delete(id);
    this.#floor = all[MOST - 1]?.time ?? 0;
    this.#sorted = undefined;
  }

  #known(): readonly Known[] {
    this.#sorted ??= [...this.#changes.values()]
      .filter(isTimed)
      .filter(({ version }) => version > 0)
      .sort((a, b) => a.version - b.version);
    return this.#sorted;
  }

  #withRange(change: Change): TimedChange {
    const known = this.#known();
    const at = firstAfter(known, change.version);
    const since = known[at - 1]?.time ?? this.#floor;
    return { ...change, time: Math.max(known[at]?.time ?? this.#began, since), since };
  }
}

const isTimed = (change: Change): change is Known => change.time !== undefined;

/** Index of the first change after a version. */
function firstAfter(known: readonly Known[], version: number): number {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle]?.version ?? 0) > version) high = middle;
    else low = middle + 1;
  }
  return low;
}
