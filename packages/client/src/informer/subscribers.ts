import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { InformerEvent, InformerHandlers, LifecycleEvent } from "./events.ts";
import type { InformerProblem } from "./informer-options.ts";
import { ObjectMap } from "./object-map.ts";

/** Whoever hears of events. */
export interface Subscriber<T> {
  event(event: InformerEvent<T>): void;
  lifecycle(event: LifecycleEvent): void;
}

/** Told of errors of others' code. */
export type Report = (error: Error, problem: InformerProblem) => void;

/** Handlers, whose faults are reported and stay theirs. */
export class HandlerSubscriber<T> implements Subscriber<T> {
  readonly #handlers: InformerHandlers<T>;
  readonly #report: Report;

  constructor(handlers: InformerHandlers<T>, report: Report) {
    this.#handlers = handlers;
    this.#report = report;
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

/** An iterator. */
export class QueueSubscriber<T> implements Subscriber<T> {
  readonly #queue: EventQueue<T>;

  constructor(queue: EventQueue<T>) {
    this.#queue = queue;
  }

  event(event: InformerEvent<T>): void {
    this.#queue.push(event);
  }

  lifecycle(): void {
    // Handlers hear of these.
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

interface EventQueueOptions {
  /** How many events wait as they came. */
  readonly limit: number;
  /** Told when more wait than that. */
  readonly lagging: (waiting: number) => void;
  /** Told when it takes no more; more than once, maybe. */
  readonly closed: () => void;
}

/** How many events that have been read are kept at least before they are let go of. */
const READ = 16;

/**
 * Events that wait for a reader at its own pace. Up to a limit they wait as they came; beyond it those of one object become
 * one, so that never more wait
 * than twice as many as there are objects that the reader has heard of, or has yet to.
 */
export class EventQueue<T> implements AsyncIterableIterator<InformerEvent<T>> {
  readonly #options: EventQueueOptions;
  #exact: InformerEvent<T>[] = [];
  #at = 0;
  #merged = new ObjectMap<InformerEvent<T>>();
  /** How many may wait as they came; what was there at the beginning does not count. */
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

  /** Nothing more comes. What waits can still be read. */
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

  /** Nobody reads on. */
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
      // All at once: taking them out of a map one by one would pass by those that are gone each time.
      this.#exact = Array.from(this.#merged.entries(), ([, event]) => event);
      this.#at = 0;
      if (this.#exact.length === 0) this.#room = this.#options.limit;
      else this.#merged = new ObjectMap();
    }
    const event = this.#exact[this.#at];
    if (event !== undefined) this.#at += 1;
    // What has been read is let go of in bulk: one that never quite catches up would keep it all.
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

/** Two events of one object as one: what a reader who missed what is between has to know. */
function merged<T>(before: InformerEvent<T>, event: InformerEvent<T>): InformerEvent<T> | undefined {
  if (before.type === "added") {
    if (event.type === "deleted") return undefined;
    return { ...before, object: event.object };
  }
  const old = before.type === "deleted" ? before.object : before.old;
  if (event.type === "deleted") return event;
  return { type: "updated", key: event.key, object: event.object, old };
}
