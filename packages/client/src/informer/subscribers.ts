import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { EventQueue } from "./event-queue.ts";
import type { InformerEvent, InformerHandlers, LifecycleEvent } from "./events.ts";
import type { InformerProblem } from "./options.ts";

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
