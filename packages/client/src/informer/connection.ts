import { onAbort, systemClock } from "@virtual-workspaces/transport";
import type { Counters, LifecycleEvent } from "./events.ts";

/** Whether there is a watch, since when, and for how long there was none. */
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

  /** Whether there is one, or has been until a moment ago and the next is on its way. */
  get connected(): boolean {
    return this.#told;
  }

  /** How long the watch has been open, ms. */
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

  /** The server gave a sign of life. */
  heard(): void {
    this.#lastEventAt = new Date();
  }

  /** The watch ended in its time. */
  pause(): void {
    if (this.#openSince !== undefined) this.#closedSince = performance.now();
    this.#openSince = undefined;
  }

  /** The watch ended otherwise, or the next one did not come. */
  close(cause: Error | undefined): void {
    this.pause();
    if (!this.#told) return;
    this.#told = false;
    this.#tell({ type: "disconnected", cause });
  }
}

/** Ends an attempt that does not come on. Its signal is that of the attempt. */
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

  /** From now on, unless it is told otherwise within `delay` ms, the attempt ends with what `reason` gives. */
  expect(delay: number, reason: () => Error): void {
    this.rest();
    this.#timer = systemClock.after(delay, () => this.#controller.abort(reason()));
  }

  /** It may take as long as it takes. */
  rest(): void {
    this.#timer?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.rest();
    this.#linked[Symbol.dispose]();
  }
}
