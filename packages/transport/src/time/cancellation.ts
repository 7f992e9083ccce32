/**
 * Reports once that a request is no longer wanted, as an `AbortSignal` does. A signal with its controller, listener and event
 * costs as much as a tenth of a small proxied request, so it is made only for those who read it.
 */
export class Cancellation {
  #cancelled: { readonly reason: unknown } | undefined;
  #listener: ((reason: unknown) => void) | undefined;
  /** Further listeners: most requests have one. */
  #others: Set<(reason: unknown) => void> | undefined;
  #controller: AbortController | undefined;

  /** Whether {@link cancel} has been called. */
  get cancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** Reason of {@link cancel}. */
  get reason(): unknown {
    return this.#cancelled?.reason;
  }

  /** Aborts with the same reason. Made on first read. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled.reason);
    }
    return this.#controller.signal;
  }

  /** Calls back once, as soon as the request is cancelled; not when it has been before. */
  on(listener: (reason: unknown) => void): void {
    if (this.#listener === undefined) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  /** Removes a listener. */
  off(listener: (reason: unknown) => void): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** Cancels the request. Later calls have no effect. */
  cancel(reason: unknown): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = { reason };
    this.#listener?.(reason);
    for (const listener of this.#others ?? []) listener(reason);
    this.#listener = undefined;
    this.#others = undefined;
    this.#controller?.abort(reason);
  }
}
