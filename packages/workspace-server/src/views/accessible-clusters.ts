import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** What decides whether one user may enter, and what hangs on it. */
export interface AccessibleClustersOptions {
  /** As everything is now. */
  readonly enters: (cluster: string) => boolean;
  /** The Workspaces that are shown to those who may enter a logical cluster. */
  readonly shownBy: (cluster: string) => Iterable<ObjectKey>;
  readonly slices: TimeSlices;
}

/**
 * The logical clusters that one user may enter, of those that somebody has asked about: 100 bytes for each. What becomes
 * of one is told only where the answer is another one than before.
 */
export class AccessibleClusters implements Disposable {
  readonly #options: AccessibleClustersOptions;
  readonly #clusters = new Set<string>();
  readonly #listeners = new Set<(key: ObjectKey) => void>();
  /** What is still to be looked at, by shard. */
  readonly #pending = new Map<string, Iterator<unknown>>();

  constructor(options: AccessibleClustersOptions) {
    this.#options = options;
  }

  /** Whether nobody listens any more. */
  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  /** Tells of Workspaces that are shown now, or no more. */
  listen(changed: (key: ObjectKey) => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  has(cluster: string): boolean {
    if (this.#clusters.has(cluster)) return true;
    if (!this.#options.enters(cluster)) return false;
    if (cluster !== "") this.#clusters.add(cluster);
    return true;
  }

  /** Something has changed about a logical cluster. */
  look(cluster: string): void {
    const before = this.#clusters.has(cluster);
    const now = this.#options.enters(cluster);
    if (before === now) return;
    if (now) this.#clusters.add(cluster);
    else this.#clusters.delete(cluster);
    for (const key of this.#options.shownBy(cluster)) for (const changed of this.#listeners) changed(key);
  }

  /** No workspace leads there any more. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  /** Something has changed about all logical clusters of a shard: they are looked at in slices, or when somebody reads. */
  lookAt(shard: string, clusters: Iterable<string>): void {
    const { slices } = this.#options;
    this.leave(shard);
    const work = this.#lookAtAll(shard, clusters);
    this.#pending.set(shard, work);
    slices.add(work);
  }

  /** A shard is not there: what was known of it counts. */
  leave(shard: string): void {
    const work = this.#pending.get(shard);
    if (work !== undefined) this.#options.slices.delete(work);
    this.#pending.delete(shard);
  }

  /** Looks now at whatever is still to be looked at. */
  settle(): void {
    for (const work of [...this.#pending.values()]) this.#options.slices.finish(work);
  }

  [Symbol.dispose](): void {
    for (const shard of [...this.#pending.keys()]) this.leave(shard);
  }

  *#lookAtAll(shard: string, clusters: Iterable<string>): Iterator<unknown> {
    for (const cluster of clusters) {
      this.look(cluster);
      yield;
    }
    this.#pending.delete(shard);
  }
}

/** How long others wait for a piece of work, ms. */
const SLICE = 5;

/**
 * Work that takes long, done a little in each turn of the event loop, and one piece after the other. Each is an iterator that
 * has done some of its work whenever it yields.
 */
export class TimeSlices implements Disposable {
  readonly #waiting = new Set<Iterator<unknown>>();
  #planned: NodeJS.Immediate | undefined;

  /** Has a piece of work done, some time. */
  add(work: Iterator<unknown>): void {
    this.#waiting.add(work);
    this.#planned ??= setImmediate(this.#run);
  }

  /** Leaves undone what is left of it. */
  delete(work: Iterator<unknown>): void {
    this.#waiting.delete(work);
  }

  /** Does what is left of it now. */
  finish(work: Iterator<unknown>): void {
    while (work.next().done !== true);
    this.#waiting.delete(work);
  }

  [Symbol.dispose](): void {
    this.#waiting.clear();
    clearImmediate(this.#planned);
  }

  readonly #run = (): void => {
    this.#planned = undefined;
    const end = performance.now() + SLICE;
    for (const work of this.#waiting) {
      while (performance.now() < end) {
        if (work.next().done !== true) continue;
        this.#waiting.delete(work);
        break;
      }
    }
    if (this.#waiting.size > 0) this.#planned = setImmediate(this.#run);
  };
}
