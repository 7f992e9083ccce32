import { type Clock, onAbort, Pace, systemClock } from "@virtual-workspaces/transport";
import { type Due, DueHeap } from "./due-heap.ts";
import { Durations, type DurationsSnapshot } from "./durations.ts";
import { FairQueue, type QueuePosition } from "./fair-queue.ts";
import { RateLimit, type RateLimitOptions } from "./rate-limit.ts";

/** What a {@link WorkQueue} is made with. */
export interface WorkQueueOptions<K> {
  /** A key as a text that is the same for equal keys only. */
  readonly id: (key: K) => string;
  /** Whose turn a key is served in: its cluster. @default all keys are one's */
  readonly part?: (key: K) => string;
  readonly rateLimit?: RateLimitOptions;
  /** Shuts the queue down, without a drain. */
  readonly signal?: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
  /** For jitter: 0 to below 1. @default Math.random */
  readonly random?: () => number;
}

/** What a queue does and has done: client-go's `workqueue_…` metrics. */
export interface WorkQueueMetrics {
  /** Keys that wait for a worker now (`depth`). */
  readonly depth: number;
  /** Keys that wait for a time. */
  readonly delayed: number;
  /** Keys that are worked on. */
  readonly working: number;
  /** Keys that were put in line, not counting those that stood there (`adds_total`). */
  readonly adds: number;
  /** `retries_total` */
  readonly retries: number;
  /** How long keys stood in line (`queue_duration_seconds`). */
  readonly waited: DurationsSnapshot;
  /** How long they were worked on (`work_duration_seconds`). */
  readonly worked: DurationsSnapshot;
  /** s, of the work under way (`unfinished_work_seconds`). */
  readonly unfinished: number;
  /** s (`longest_running_processor_seconds`). */
  readonly longestRunning: number;
}

/** How a key is added. */
export interface AddOptions {
  /** The highest is served first, before all others: use few, and let them pass. @default 0 */
  readonly priority?: number;
}

/**
 * Keys to be worked on: client-go's rate-limited `workqueue`. A key stands in it once, however often it is added; one that
 * is added while it is worked on is worked on again afterwards, never at the same time. Parts (clusters) are served in
 * turn. A key has one entry and one time: the earliest of those it was added with. Memory is bounded by the keys that wait,
 * are worked on, or have failed and were not forgotten.
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

  /** Puts a key in line, now. One that waits for a time does not any longer. Nothing after a shutdown. */
  add(key: K, { priority = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    this.#ready(this.#item(key), priority);
  }

  /** Puts a key in line after so many ms, unless it is in line already or will be earlier. */
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

  /** Puts a key in line after its failures so far, this one included, are waited for. @returns ms */
  addRateLimited(key: K, { atLeast = 0, ...options }: AddOptions & { readonly atLeast?: number } = {}): number {
    const item = this.#item(key);
    const ms = Math.max(atLeast, this.#rateLimit.delay(item.failures++, this.#clock.now()));
    this.#retries++;
    this.addAfter(key, ms, options);
    this.#tidy(item);
    return ms;
  }

  /** Forgets the failures of a key. */
  forget(key: K): void {
    const item = this.#items.get(this.#id(key));
    if (item === undefined) return;
    item.failures = 0;
    this.#tidy(item);
  }

  /** How often a key failed since it was forgotten (`NumRequeues`). */
  failures(key: K): number {
    return this.#items.get(this.#id(key))?.failures ?? 0;
  }

  /** Takes a key out of line, and forgets its time and failures. Work under way goes on. */
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
   * The next key, as soon as there is one; undefined after a shutdown. Whoever takes one says when it is {@link done}. After
   * 10 ms in one turn of the event loop the next turn is waited for, however quickly keys are worked on.
   */
  get(): Promise<K | undefined> {
    const rest = this.#lines.size > 0 && this.#pace.isOver ? this.#pace.rest() : undefined;
    if (rest !== undefined) return rest.then(() => this.get());
    const item = this.#lines.shift();
    if (item !== undefined) return Promise.resolve(this.#start(item));
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Work on a key has ended. */
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
   * Takes no more keys; what waits for a time is dropped. With `drain`, what is in line, or added again while it was worked
   * on, is still handed out; without, dropped too. Resolves when no work is under way.
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

  /** As they are now. */
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

  /** How many keys are kept in memory, for whatever reason. */
  get size(): number {
    return this.#items.size;
  }

  /** Ends it as {@link shutdown} does. */
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

  /** Rings when the first of those that wait is due. */
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

/** All that a queue knows of a key. */
interface WorkItem<K> extends Due {
  readonly key: K;
  readonly id: string;
  readonly part: string;
  priority: number;
  /** Its place in line, while it stands there. */
  standing: QueuePosition<WorkItem<K>> | undefined;
  /** Added while it was worked on. */
  again: boolean;
  failures: number;
  /** When it was put in line, or work on it began: ms of the clock. */
  since: number;
}

function newItem<K>(key: K, { id, part }: { id: string; part: string }): WorkItem<K> {
  return { key, id, part, priority: 0, standing: undefined, again: false, failures: 0, since: 0, due: 0, place: -1 };
}
