import { systemClock } from "@virtual-workspaces/transport";

/** Ends an attempt that does not come on. Its signal is that of the attempt. */
export class Watchdog implements Disposable {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  #timer: Disposable | undefined;

  constructor(parent: AbortSignal) {
    this.#parent = parent;
    parent.addEventListener("abort", this.#abort, { once: true });
    if (parent.aborted) this.#abort();
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
    this.#parent.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => {
    this.rest();
    this.#controller.abort(this.#parent.reason);
  };
}
