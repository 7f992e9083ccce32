export interface RememberedOptions {
  /** How long a value is kept, ms; 0: not at all. */
  readonly ttl: number;
  /** The most that are kept at once; the oldest goes first. */
  readonly maximum: number;
}

/** Values by key, each for a while. Time is monotonic: a clock that is set back makes nothing live longer. */
export class Remembered<V> {
  readonly #options: RememberedOptions;
  /** In the order in which they came, which is about the order in which they end. */
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();

  constructor(options: RememberedOptions) {
    this.#options = options;
  }

  /** How many are kept, those included that have ended since the last one came. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && performance.now() < entry.until ? entry.value : undefined;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** @param longest ms, if that is less than others are kept */
  set(key: string, value: V, longest: number = Number.POSITIVE_INFINITY): void {
    const { ttl, maximum } = this.#options;
    const now = performance.now();
    const entries = this.#entries;
    entries.delete(key);
    for (const [old, { until }] of entries) {
      if (until > now) break;
      entries.delete(old);
    }
    const time = Math.min(ttl, longest);
    if (time <= 0) return;
    entries.set(key, { value, until: now + time });
    if (entries.size > maximum) entries.delete(entries.keys().next().value as string);
  }
}
