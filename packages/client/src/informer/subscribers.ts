import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { InformerEvent, InformerHandlers, LifecycleEvent } from "./events.ts";
import type { InformerProblem } from "./informer-options.ts";
import { ObjectMap } from "./object-map.ts";

/** Receiver of an informer's events. */
export interface Subscriber<T> {
  /** Whether it handles events of the informer itself. */
  readonly hearsLifecycle: boolean;
  event(event: InformerEvent<T>): void;
  lifecycle(event: LifecycleEvent): void;
}

/** Reports exceptions of callbacks. */
export type Report = (error: Error, problem: InformerProblem) => void;

/** Delivers events to handlers, and reports their exceptions. */
export class HandlerSubscriber<T> implements Subscriber<T> {
  readonly #handlers: InformerHandlers<T>;
  readonly #report: Report;

  constructor(handlers: InformerHandlers<T>, report: Report) {
    this.#handlers = handlers;
    this.#report = report;
  }

  get hearsLifecycle(): boolean {
    return this.#handlers.lifecycle !== undefined;
  }

  event(event: InformerEvent<T>): void {
    const handlers = this.#handlers;
    this.#call({ during: event.type, key: event.key }, () => {
      if (event.type === "added") return handlers.added?.(event.object, event);
      if (event.type === "updated") return handlers.updated?.(event.object, event.old, event);
      return handlers.deleted?.(event.object, event);
    });
  }

  lifecycle(event: LifecycleEvent): void {
    this.#call({ during: "lifecycle" }, () => this.#handlers.lifecycle?.(event));
  }

  #call(problem: { readonly during: InformerProblem["during"]; readonly key?: ObjectKey }, call: () => unknown): void {
    const report = (error: unknown): void =>
      this.#report(error instanceof Error ? error : new Error(String(error)), problem);
    try {
      const result = call();
      if (isThenable(result)) result.then(undefined, report);
    } catch (error) {
      report(error);
    }
  }
}

/** Delivers events to an iterator. */
export class QueueSubscriber<T> implements Subscriber<T> {
  readonly hearsLifecycle = false;
  readonly #queue: EventQueue<T>;

  constructor(queue: EventQueue<T>) {
    this.#queue = queue;
  }

  event(event: InformerEvent<T>): void {
    this.#queue.push(event);
  }

  lifecycle(): void {
    // Only handlers receive these.
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

interface EventQueueOptions {
  /** Number of events that wait unmerged. */
  readonly limit: number;
  /** Called when the limit is exceeded. */
  readonly lagging: (waiting: number) => void;
  /** Called when the queue ends, possibly more than once. */
  readonly closed: () => void;
}

/** Minimum number of delivered events to keep before they are released. */
const READ = 16;

/**
 * Events that wait for a slow reader. Beyond the limit, events of one object are merged, so that at most twice as many wait
 * as there are objects that the reader has received or will receive.
 */
export class EventQueue<T> implements AsyncIterableIterator<InformerEvent<T>> {
  readonly #options: EventQueueOptions;
  #exact: InformerEvent<T>[] = [];
  #at = 0;
  #merged = new ObjectMap<InformerEvent<T>>();
  /** Number of events that may wait unmerged. Initial events do not count. */
  #room: number;
  #ended = false;
  #waiting: ((result: IteratorResult<InformerEvent<T>, undefined>) => void)[] = [];

  constructor(options: EventQueueOptions) {
    this.#options = options;
    this.#room = options.limit;
  }

  get waiting(): number {
    return this.#exact.length - this.#at + this.#merged.size;
  }

  push(event: InformerEvent<T>): void {
    if (this.#ended) return;
    if (event.type === "added" && event.initial) this.#room += 1;
    const reader = this.#waiting.shift();
    if (reader !== undefined) reader({ done: false, value: event });
    else if (this.#merged.size === 0 && this.waiting < this.#room) this.#exact.push(event);
    else this.#merge(event);
  }

  /** Ends the queue. The reader still receives the waiting events. */
  end(): void {
    this.#ended = true;
    this.#options.closed();
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    const value = this.#take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the iteration from the reader's side. */
  return(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    this.#exact = [];
    this.#at = 0;
    this.#merged = new ObjectMap();
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): InformerEvent<T> | undefined {
    if (this.#at === this.#exact.length) {
      // All at once: removing entries of a map one by one would scan the removed ones each time.
      this.#exact = Array.from(this.#merged.entries(), ([, event]) => event);
      this.#at = 0;
      if (this.#exact.length === 0) this.#room = this.#options.limit;
      else this.#merged = new ObjectMap();
    }
    const event = this.#exact[this.#at];
    if (event !== undefined) this.#at += 1;
    // Delivered events are released in bulk; otherwise a reader that never quite catches up would keep all of them.
    if (this.#at >= READ && this.#at * 2 >= this.#exact.length) {
      this.#exact = this.#exact.slice(this.#at);
      this.#at = 0;
    }
    return event;
  }

  #merge(event: InformerEvent<T>): void {
    if (this.#merged.size === 0) this.#options.lagging(this.waiting + 1);
    const { key } = event;
    const before = this.#merged.get(key);
    const both = before === undefined ? event : merged(before, event);
    if (both === undefined) this.#merged.delete(key);
    else this.#merged.set(key, both);
  }
}

/** Merges two events of one object into what a reader needs who missed the state between. */
function merged<T>(before: InformerEvent<T>, event: InformerEvent<T>): InformerEvent<T> | undefined {
  if (before.type === "added") {
    if (event.type === "deleted") return undefined;
    return { ...before, object: event.object };
  }
  const old = before.type === "deleted" ? before.object : before.old;
  if (event.type === "deleted") return event;
  return { type: "updated", key: event.key, object: event.object, old };
}
