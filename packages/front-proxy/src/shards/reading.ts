import { isApiError } from "@virtual-workspaces/apimachinery";
import type { LifecycleEvent } from "@virtual-workspaces/client";

/** How reading one kind goes: what is seen of its informer. */
export class Reading {
  readonly #onError: (error: unknown) => void;
  readonly #tried = Promise.withResolvers<void>();
  #isAway = false;
  /** Whether all of it has been read, or there is none. */
  isFilled = false;

  /** @param onError told of the first of several failures in a row */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Resolves when all was read, or could not be. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  see(event: LifecycleEvent): void {
    if (event.type === "connected") this.#isAway = false;
    // That the kind is not there is no failure: nothing of it is.
    const isNothing = event.type === "error" && isApiError(event.error) && event.error.code === 404;
    if (event.type === "synced" || isNothing) this.isFilled = true;
    else if (event.type === "error") this.failed(event.error);
    if (event.type === "synced" || event.type === "error") this.#tried.resolve();
  }

  /** Anything else that is needed for it failed. */
  failed(error: unknown): void {
    if (!this.#isAway) this.#onError(error);
    this.#isAway = true;
  }
}
