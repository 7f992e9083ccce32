import { once } from "node:events";
import type { NamedHub } from "./options.ts";

/** Which hubs there are, and which of them the agent has a tunnel to, or is dialling. */
export class KnownHubs {
  #places: readonly NamedHub[];
  /** Ids of hubs. */
  readonly #held = new Map<symbol, string>();
  /** Those that could not be dialled, the last one last. */
  readonly #failed = new Set<string>();
  readonly #waiting = new Set<() => void>();

  constructor(places: readonly NamedHub[]) {
    this.#places = places;
  }

  /** There are these now. */
  learn(places: readonly NamedHub[]): void {
    this.#places = places;
    this.#tell();
  }

  /** Who has a tunnel to it, or is dialling it, besides. */
  holders(id: string, but: symbol): readonly symbol[] {
    return [...this.#held].flatMap(([who, held]) => (held === id && who !== but ? [who] : []));
  }

  hold(who: symbol, id: string): void {
    this.#held.set(who, id);
  }

  release(who: symbol): void {
    if (this.#held.delete(who)) this.#tell();
  }

  /** It is the last that is tried again. */
  failed(id: string): void {
    this.#failed.delete(id);
    this.#failed.add(id);
  }

  /** One that nobody has, which is held from now on; waits for one. @throws the signal's reason */
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

  /** Any, so that agents spread; of those that failed that of longest ago. */
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
