import { setTimeout as pause } from "node:timers/promises";
import { type ProxyKey, textOf } from "./proxy-key.ts";

/** How long a request waits for an agent that dials again, ms. */
const PATIENCE = 3_000;

/** Requests that wait for a way to their remote cluster. */
export class Arrivals {
  readonly #patience: number;
  readonly #waiting = new Map<string, Set<() => void>>();

  /** @param patience how long they do, ms */
  constructor(patience: number = PATIENCE) {
    this.#patience = patience;
  }

  /** There may be a way now. */
  tell(key: ProxyKey): void {
    for (const look of this.#waiting.get(textOf(key)) ?? []) look();
  }

  /** Waits a little until there is a way. @throws the signal's reason */
  async wait(key: ProxyKey, isThere: () => boolean, signal: AbortSignal): Promise<void> {
    if (isThere()) return;
    const text = textOf(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (isThere()) resolve();
    };
    const waiting = this.#waiting.get(text) ?? new Set();
    this.#waiting.set(text, waiting.add(look));
    const late = new AbortController();
    try {
      const over = pause(this.#patience, undefined, { signal: AbortSignal.any([signal, late.signal]), ref: false });
      await Promise.race([promise, over.catch(() => signal.throwIfAborted())]);
    } finally {
      late.abort();
      waiting.delete(look);
      if (waiting.size === 0) this.#waiting.delete(text);
    }
  }
}
