import { once } from "node:events";
import type { NamedHub } from "./options.ts";

/** Known hubs, and those that the agent has a tunnel to or is dialing. */
export class KnownHubs {
  #places: readonly NamedHub[];
  /** Hub ids by holder. */
  readonly #held = new Map<symbol, string>();
  /** Ids of hubs that could not be dialed, the latest one last. */
  readonly #failed = new Set<string>();
  readonly #waiting = new Set<() => void>();

  constructor(places: readonly NamedHub[]) {
    this.#places = places;
  }

  /** Replaces the known hubs. */
  learn(places: readonly NamedHub[]): void {
    this.#places = places;
    this.#tell();
  }

  /** Returns the other holders of a hub. */
  holders(id: string, but: symbol): readonly symbol[] {
    return [...this.#held].flatMap(([who, held]) => (held === id && who !== but ? [who] : []));
  }

  hold(who: symbol, id: string): void {
    this.#held.set(who, id);
  }

  release(who: symbol): void {
    if (this.#held.delete(who)) this.#tell();
  }

  /** Moves a hub to the end of the retry order. */
  failed(id: string): void {
    this.#failed.delete(id);
    this.#failed.add(id);
  }

  /** Waits for a hub without a holder and holds it. @throws the signal's reason */
  async free(who: symbol, signal: AbortSignal): Promise<NamedHub> {
    for (;;) {
      signal.throwIfAborted();
      const place = this.#choice();
      if (place !== undefined) {
        this.hold(who, place.id);
        return place;
      }
      await this.#news(signal);
    }
  }

  /** Chooses a random hub, so that agents are spread; among failed ones, the earliest. */
  #choice(): NamedHub | undefined {
    const held = new Set(this.#held.values());
    const free = this.#places.filter(({ id }) => !held.has(id));
    const fresh = free.filter(({ id }) => !this.#failed.has(id));
    const [oldest] = [...this.#failed];
    return fresh[Math.floor(Math.random() * fresh.length)] ?? free.find(({ id }) => id === oldest) ?? free[0];
  }

  async #news(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const over = new AbortController();
    try {
      await Promise.race([promise, once(signal, "abort", { signal: over.signal }).catch(() => undefined)]);
    } finally {
      over.abort();
      this.#waiting.delete(resolve);
    }
  }

  #tell(): void {
    for (const look of [...this.#waiting]) look();
  }
}
