import { compareResourceVersions } from "@virtual-workspaces/apimachinery";
import type { HistoryOptions } from "./cache.ts";
import type { CacheEvent } from "./event.ts";

/** The recent events of a cache, bounded in number and bytes. Positions count events from the beginning of time. */
export class Ring {
  readonly #limit: number;
  readonly #byteLimit: number;
  #events: (CacheEvent | undefined)[] = [];
  #bytes = 0;
  /** All after this version is known. */
  #floor: string;
  first = 0;
  next = 0;

  constructor(floor: string, options: HistoryOptions) {
    this.#floor = floor;
    this.#limit = options.events ?? 4096;
    this.#byteLimit = options.bytes ?? 16 * 2 ** 20;
  }

  event(position: number): CacheEvent {
    return this.#events[position % this.#limit] as CacheEvent;
  }

  /** Adds without trimming, so that listeners may still read everything up to the new event. */
  push(event: CacheEvent): void {
    if (this.next - this.first === this.#limit) this.#evict();
    this.#events[this.next % this.#limit] = event;
    this.#bytes += event.previous?.bytes.length ?? 0;
    this.next += 1;
  }

  trim(): void {
    while (this.#bytes > this.#byteLimit && this.next - this.first > 1) this.#evict();
  }

  clear(floor: string): void {
    this.#events = [];
    this.#bytes = 0;
    this.#floor = floor;
    this.first = this.next;
  }

  /** The position of the first event after `version`; `undefined` when that is no longer known. */
  position(version: string): number | undefined {
    if (compareResourceVersions(version, this.#floor) < 0) return undefined;
    let low = this.first;
    let high = this.next;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareResourceVersions(this.event(middle).version, version) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #evict(): void {
    const event = this.event(this.first);
    this.#floor = event.version;
    this.#bytes -= event.previous?.bytes.length ?? 0;
    this.#events[this.first % this.#limit] = undefined;
    this.first += 1;
  }
}
