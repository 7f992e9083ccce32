import { type Clock, onAbort, Pace, systemClock } from "@virtual-workspaces/transport";
import { type Due, DueHeap } from "./due-heap.ts";
import { Durations, type DurationsSnapshot } from "./durations.ts";
import { FairQueue, type QueuePosition } from "./fair-queue.ts";
import { RateLimit, type RateLimitOptions } from "./rate-limit.ts";

/** Options of a {@link WorkQueue}. */
export interface WorkQueueOptions<K> {
  /** Returns a key as text, unique for each key. */
  readonly id: (key: K) => string;
  /** Returns the part (cluster) of a key for fair queuing. @default one part for all keys */
  readonly part?: (key: K) => string;
  readonly rateLimit?: RateLimitOptions;
  /** Shuts the queue down without a drain when it aborts. */
  readonly signal?: AbortSignal;
  /** Source of time. @default the system clock */
  readonly clock?: Clock;
  /** Random numbers for jitter, from 0 to below 1. @default Math.random */
  readonly random?: () => number;
}

/** Metrics of a queue: client-go's `workqueue_…` metrics. */
export interface WorkQueueMetrics {
  /** Keys that wait for a worker (`depth`). */
  readonly depth: number;
  /** Keys that wait for their delay. */
  readonly delayed: number;
  /** Keys that a worker holds. */
  readonly working: number;
  /** Keys enqueued so far, without those that were queued already (`adds_total`). */
  readonly adds: number;
  /** Delayed retries so far (`retries_total`). */
  readonly retries: number;
  /** Time that keys waited for a worker (`queue_duration_seconds`). */
  readonly waited: DurationsSnapshot;
  /** Time that workers held keys (`work_duration_seconds`). */
  readonly worked: DurationsSnapshot;
  /** Total time that the keys now held have been held, in seconds (`unfinished_work_seconds`). */
  readonly unfinished: number;
  /** Time that the oldest key now held has been held, in seconds (`longest_running_processor_seconds`). */
  readonly longestRunning: number;
}

/** Options of adding a key. */
export interface AddOptions {
  /**
   * Priority of the key. The highest is served first, before all others. Use few different values, and only for short
   * bursts. @default 0
   */
  readonly priority?: number;
}

/**
 * Rate-limited queue of keys, like client-go's `workqueue`. A key is queued once, however often it is added. A key that
 * is added while a worker holds it is queued again afterwards, so that no two workers hold it. Parts (clusters) are
 * served in turn. If a key was added with several delays, the earliest counts. Memory grows with the keys that wait,
 * are held, or have failed and were not forgotten.
 */
export class WorkQueue<K> implements AsyncDisposable {
  readonly #id: (key: K) => string;
  readonly #part: (key: K) => string;
  readonly #clock: Clock;
  readonly #rateLimit: RateLimit;
  readonly #items = new Map<string, WorkItem<K>>();
  readonly #lines = new FairQueue<WorkItem<K>>();
  readonly #later = new DueHeap<WorkItem<K>>();
  readonly #working = new Set<WorkItem<K>>();
  readonly #idle: ((key: K | undefined) => void)[] = [];
  readonly #waited = new Durations();
  readonly #worked = new Durations();
  readonly #pace = new Pace();
  readonly #over = Promise.withResolvers<void>();
  #adds = 0;
  #retries = 0;
  #closed = false;
  #timer: (Disposable & { readonly due: number }) | undefined;

  constructor(options: WorkQueueOptions<K>) {
    const { id, part = () => "", clock = systemClock, rateLimit, random, signal } = options;
    this.#id = id;
    this.#part = part;
    this.#clock = clock;
    this.#rateLimit = new RateLimit(rateLimit, random);
    const linked = onAbort(signal, () => void this.shutdown());
    void this.#over.promise.then(() => linked[Symbol.dispose]());
  }

  /** Enqueues a key now, and cancels its delay. Does nothing after a shutdown. */
  add(key: K, { priority = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    this.#ready(this.#item(key), priority);
  }

  /** Enqueues a key after a delay in ms, unless it is queued already or will be earlier. */
  addAfter(key: K, ms: number, { priority = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    if (!(ms > 0)) {
      this.add(key, { priority });
      return;
    }
    const item = this.#item(key);
    const due = this.#clock.now() + ms;
    if (item.standing !== undefined || item.again || (item.place !== -1 && item.due <= due)) return;
    this.#stopWaiting(item);
    item.due = due;
    item.priority = priority;
    this.#later.push(item);
    this.#arm();
  }

  /** Counts a failure of a key and enqueues it after its backoff. @returns the delay, in ms */
  addRateLimited(key: K, { atLeast = 0, ...options }: AddOptions & { readonly atLeast?: number } = {}): number {
    const item = this.#item(key);
    const ms = Math.max(atLeast, this.#rateLimit.delay(item.failures++, this.#clock.now()));
    this.#retries++;
    this.addAfter(key, ms, options);
    this.#tidy(item);
    return ms;
  }

  /** Resets the failures of a key. */
  forget(key: K): void {
    const item = this.#items.get(this.#id(key));
    if (item === undefined) return;
    item.failures = 0;
    this.#tidy(item);
  }

  /** Returns the failures of a key since `forget` (`NumRequeues`). */
  failures(key: K): number {
    return this.#items.get(this.#id(key))?.failures ?? 0;
  }

  /** Removes a key from the queue, with its delay and failures. A worker that holds it is not interrupted. */
  cancel(key: K): void {
    const item = this.#items.get(this.#id(key));
    if (item === undefined) return;
    if (item.standing !== undefined) this.#lines.remove(item.standing);
    this.#stopWaiting(item);
    Object.assign(item, { standing: undefined, again: false, failures: 0 });
    this.#tidy(item);
    this.#settle();
  }

  /**
   * Resolves with the next key, or with `undefined` after a shutdown. The worker must call {@link done} afterwards.
   * After 10 ms in one turn of the event loop it waits for the next turn, so that fast workers do not block the loop.
   */
  get(): Promise<K | undefined> {
    const rest = this.#lines.size > 0 && this.#pace.isOver ? this.#pace.rest() : undefined;
    if (rest !== undefined) return rest.then(() => this.get());
    const item = this.#lines.shift();
    if (item !== undefined) return Promise.resolve(this.#start(item));
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Releases a key that a worker held. */
  done(key: K): void {
    const item = this.#items.get(this.#id(key));
    if (item === undefined || !this.#working.delete(item)) return;
    this.#worked.observe(this.#clock.now() - item.since);
    if (item.again) {
      item.again = false;
      this.#line(item);
    } else this.#tidy(item);
    this.#settle();
  }

  /**
   * Rejects new keys and drops delayed ones. With `drain`, workers still get the queued keys and those added again
   * while held; otherwise these are dropped too. Resolves when no worker holds a key.
   */
  shutdown({ drain = false }: { readonly drain?: boolean } = {}): Promise<void> {
    this.#closed = true;
    this.#later.clear();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (!drain) {
      for (let item = this.#lines.shift(); item !== undefined; item = this.#lines.shift()) item.standing = undefined;
      for (const item of this.#working) item.again = false;
    }
    this.#settle();
    return this.#over.promise;
  }

  /** Current metrics. */
  get metrics(): WorkQueueMetrics {
    const now = this.#clock.now();
    const running = [...this.#working].map(({ since }) => (now - since) / 1000);
    return {
      depth: this.#lines.size,
      delayed: this.#later.size,
      working: this.#working.size,
      adds: this.#adds,
      retries: this.#retries,
      waited: this.#waited.snapshot,
      worked: this.#worked.snapshot,
      unfinished: running.reduce((sum, seconds) => sum + seconds, 0),
      longestRunning: running.reduce((longest, seconds) => Math.max(longest, seconds), 0),
    };
  }

  /** Number of keys in memory, in any state. */
  get size(): number {
    return this.#items.size;
  }

  /** Same as {@link shutdown} without a drain. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #item(key: K): WorkItem<K> {
    const id = this.#id(key);
    const found = this.#items.get(id);
    if (found !== undefined) return found;
    const item = newItem(key, { id, part: this.#part(key) });
    this.#items.set(id, item);
    return item;
  }

  #ready(item: WorkItem<K>, priority: number): void {
    this.#stopWaiting(item);
    const waits = item.standing !== undefined || item.again;
    if (waits && priority <= item.priority) return;
    item.priority = priority;
    if (item.standing !== undefined) {
      this.#lines.remove(item.standing);
      item.standing = this.#lines.push(item, item);
      return;
    }
    if (!waits) this.#adds++;
    if (this.#working.has(item)) item.again = true;
    else this.#line(item);
  }

  #line(item: WorkItem<K>): void {
    item.since = this.#clock.now();
    item.standing = this.#lines.push(item, item);
    const resolve = this.#idle.shift();
    if (resolve !== undefined) resolve(this.#next());
  }

  #next(): K | undefined {
    const item = this.#lines.shift();
    return item && this.#start(item);
  }

  #start(item: WorkItem<K>): K {
    const now = this.#clock.now();
    this.#waited.observe(now - item.since);
    item.since = now;
    item.standing = undefined;
    this.#working.add(item);
    return item.key;
  }

  #stopWaiting(item: WorkItem<K>): void {
    if (item.place === -1) return;
    this.#later.remove(item);
    this.#arm();
  }

  /** Sets the timer for the earliest delayed key. */
  #arm(): void {
    const due = this.#later.first?.due;
    if (due === this.#timer?.due) return;
    this.#timer?.[Symbol.dispose]();
    const timer = due === undefined ? undefined : this.#clock.after(due - this.#clock.now(), () => this.#ring());
    this.#timer = timer && due !== undefined ? { due, [Symbol.dispose]: () => timer[Symbol.dispose]() } : undefined;
  }

  #ring(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let item = this.#later.first; item !== undefined && item.due <= now; item = this.#later.first) {
      this.#later.remove(item);
      this.#ready(item, item.priority);
    }
    this.#arm();
  }

  #tidy(item: WorkItem<K>): void {
    const isKept = item.standing !== undefined || item.place !== -1 || this.#working.has(item);
    if (!isKept && (item.failures === 0 || this.#closed)) this.#items.delete(item.id);
  }

  #settle(): void {
    if (!this.#closed || this.#lines.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve(undefined);
    if (this.#working.size > 0) return;
    this.#items.clear();
    this.#over.resolve();
  }
}

/** State of one key. */
interface WorkItem<K> extends Due {
  readonly key: K;
  readonly id: string;
  readonly part: string;
  priority: number;
  /** Position in the queue, while the key waits for a worker. */
  standing: QueuePosition<WorkItem<K>> | undefined;
  /** Whether the key was added while a worker held it. */
  again: boolean;
  failures: number;
  /** Time at which the key was queued or a worker took it, in ms of the clock. */
  since: number;
}

function newItem<K>(key: K, { id, part }: { id: string; part: string }): WorkItem<K> {
  return { key, id, part, priority: 0, standing: undefined, again: false, failures: 0, since: 0, due: 0, place: -1 };
}
