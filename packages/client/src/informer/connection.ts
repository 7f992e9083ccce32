import { onAbort, systemClock } from "@virtual-workspaces/transport";
import type { Counters, LifecycleEvent } from "./events.ts";

/** State of an informer's watch: whether and since when it is open, and the total time without one. */
export class Connection {
  readonly #counters: Counters;
  readonly #tell: (event: LifecycleEvent) => void;
  #openSince: number | undefined;
  #closedSince: number | undefined;
  #told = false;
  #lastEventAt: Date | undefined;

  constructor(counters: Counters, tell: (event: LifecycleEvent) => void) {
    this.#counters = counters;
    this.#tell = tell;
  }

  /** Whether a watch is open. Stays true while a watch is renewed. */
  get connected(): boolean {
    return this.#told;
  }

  /** Time that the watch has been open, in ms. */
  get lived(): number | undefined {
    return this.#openSince === undefined ? undefined : performance.now() - this.#openSince;
  }

  get lastEventAt(): Date | undefined {
    return this.#lastEventAt;
  }

  open(): void {
    const now = performance.now();
    this.#openSince = now;
    this.heard();
    if (this.#closedSince !== undefined) this.#counters.gapSeconds += (now - this.#closedSince) / 1000;
    this.#closedSince = undefined;
    if (this.#told) return;
    this.#told = true;
    this.#tell({ type: "connected" });
  }

  /** Records that the server sent something. */
  heard(): void {
    this.#lastEventAt = new Date();
  }

  /** Records that the watch ended normally. */
  pause(): void {
    if (this.#openSince !== undefined) this.#closedSince = performance.now();
    this.#openSince = undefined;
  }

  /** Records that the watch failed, or could not be renewed. */
  close(cause: Error | undefined): void {
    this.pause();
    if (!this.#told) return;
    this.#told = false;
    this.#tell({ type: "disconnected", cause });
  }
}

/** Aborts an attempt that makes no progress. Requests of the attempt use its signal. */
export class Watchdog implements Disposable {
  readonly #controller = new AbortController();
  readonly #linked: Disposable;
  #timer: Disposable | undefined;

  constructor(parent: AbortSignal) {
    this.#linked = onAbort(parent, () => {
      this.rest();
      this.#controller.abort(parent.reason);
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the attempt with `reason` after `delay` ms, unless the next call changes that. */
  expect(delay: number, reason: () => Error): void {
    this.rest();
    this.#timer = systemClock.after(delay, () => this.#controller.abort(reason()));
  }

  /** Removes the deadline. */
  rest(): void {
    this.#timer?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.rest();
    this.#linked[Symbol.dispose]();
  }
}
