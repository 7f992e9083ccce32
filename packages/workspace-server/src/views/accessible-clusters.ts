import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** Access decisions of one user, and the Workspaces that depend on them. */
export interface AccessibleClustersOptions {
  /** Whether the user has access to a logical cluster, in the current state. */
  readonly enters: (cluster: string) => boolean;
  /** Returns the Workspaces shown to users with access to a logical cluster. */
  readonly shownBy: (cluster: string) => Iterable<ObjectKey>;
  readonly slices: TimeSlices;
}

/**
 * Logical clusters that one user has access to, among those requested so far: 100 bytes each. Listeners are notified only if
 * a decision changes.
 */
export class AccessibleClusters implements Disposable {
  readonly #options: AccessibleClustersOptions;
  readonly #clusters = new Set<string>();
  readonly #listeners = new Set<(key: ObjectKey) => void>();
  /** Pending checks, by shard. */
  readonly #pending = new Map<string, Iterator<unknown>>();

  constructor(options: AccessibleClustersOptions) {
    this.#options = options;
  }

  /** Whether there is no listener. */
  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  /** Notifies of Workspaces that become visible or invisible. */
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

  /** Checks a changed logical cluster again. */
  look(cluster: string): void {
    const before = this.#clusters.has(cluster);
    const now = this.#options.enters(cluster);
    if (before === now) return;
    if (now) this.#clusters.add(cluster);
    else this.#clusters.delete(cluster);
    for (const key of this.#options.shownBy(cluster)) for (const changed of this.#listeners) changed(key);
  }

  /** Drops a logical cluster to which no Workspace leads any more. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  /** Checks logical clusters of a shard again, in time slices, or at the next read. */
  lookAt(shard: string, clusters: Iterable<string>): void {
    const { slices } = this.#options;
    this.leave(shard);
    const work = this.#lookAtAll(shard, clusters);
    this.#pending.set(shard, work);
    slices.add(work);
  }

  /** Cancels the checks of a shard that is gone: the last decisions stay. */
  leave(shard: string): void {
    const work = this.#pending.get(shard);
    if (work !== undefined) this.#options.slices.delete(work);
    this.#pending.delete(shard);
  }

  /** Completes all pending checks now. */
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

/** Longest blocking of other work by one slice, in milliseconds. */
const SLICE = 5;

/**
 * Runs long work in slices, one per turn of the event loop and one task after the other. A task is an iterator; each step
 * does some of its work.
 */
export class TimeSlices implements Disposable {
  readonly #waiting = new Set<Iterator<unknown>>();
  #planned: NodeJS.Immediate | undefined;

  /** Schedules a task. */
  add(work: Iterator<unknown>): void {
    this.#waiting.add(work);
    this.#planned ??= setImmediate(this.#run);
  }

  /** Cancels the rest of a task. */
  delete(work: Iterator<unknown>): void {
    this.#waiting.delete(work);
  }

  /** Completes a task now. */
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
