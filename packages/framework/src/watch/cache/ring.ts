import { compareResourceVersions } from "@virtual-workspaces/apimachinery";
import type { HistoryOptions } from "./cache.ts";
import type { CacheEvent } from "./event.ts";

/** The recent events of a cache, bounded in number and bytes. Positions count events from the beginning of time. */
export class Ring {
  readonly #limit: number;
  /** One more than the limit, for the event that is new while the oldest is still read. */
  readonly #slots: number;
  readonly #byteLimit: number;
  #events: (CacheEvent | undefined)[] = [];
  /** Of each event, as it was when it came: an object that is made when it is asked for may turn out longer or shorter. */
  #weights: number[] = [];
  #bytes = 0;
  /** All after this version is known. */
  #floor: string;
  first = 0;
  next = 0;

  constructor(floor: string, options: HistoryOptions) {
    this.#floor = floor;
    this.#limit = options.events ?? 4096;
    this.#slots = this.#limit + 1;
    this.#byteLimit = options.bytes ?? 16 * 2 ** 20;
  }

  event(position: number): CacheEvent {
    return this.#events[position % this.#slots] as CacheEvent;
  }

  /** Adds, and forgets nothing yet: whoever has not read up to {@link surplus} must do so before {@link forget}. */
  push(event: CacheEvent): void {
    const weight = weightOf(event);
    this.#events[this.next % this.#slots] = event;
    this.#weights[this.next % this.#slots] = weight;
    this.#bytes += weight;
    this.next += 1;
  }

  /** The position before which there is more than may be kept. */
  get surplus(): number {
    let position = this.first;
    let bytes = this.#bytes;
    while (this.next - position > this.#limit || (bytes > this.#byteLimit && this.next - position > 1)) {
      bytes -= this.#weight(position);
      position += 1;
    }
    return position;
  }

  /** Forgets the events before a position. */
  forget(before: number): void {
    while (this.first < before) this.#evict();
  }

  clear(floor: string): void {
    this.#events = [];
    this.#weights = [];
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

  #weight(position: number): number {
    return this.#weights[position % this.#slots] ?? 0;
  }

  #evict(): void {
    const event = this.event(this.first);
    this.#floor = event.version;
    this.#bytes -= this.#weight(this.first);
    this.#events[this.first % this.#slots] = undefined;
    this.first += 1;
  }
}

/** What an event alone keeps in memory: the object that it superseded. */
function weightOf(event: CacheEvent): number {
  return event.previous?.length ?? event.previous?.bytes.length ?? 0;
}
