import { type ApiError, toApiError } from "@virtual-workspaces/apimachinery";
import { keptBytes } from "../encode/kept-bytes.ts";
import { Chunk } from "../encode/chunk.ts";
import { eventBytes, eventPieces, type Representation } from "../encode/representation.ts";
import type { CacheEvent } from "./cache/event.ts";
import type { ReadableCache } from "./cache/readable-cache.ts";
import type { Selection } from "./selection.ts";
import type { Subscriber } from "./subscriber.ts";

/** What streams of one kind of bytes are counted by. */
export interface FanoutStats {
  /** Events rendered: once for each event and representation, however many watchers. */
  rendered: number;
  /** Batches of events written to a watcher. */
  delivered: number;
}

/** Events of one resource that were sent to watchers. */
export interface SentCount {
  events: number;
}

export interface LaneOptions {
  readonly selection: Selection;
  readonly representation: Representation;
  readonly stats: FanoutStats;
  readonly sent: SentCount;
  /** Under which the fanout finds it. */
  readonly key: string;
}

/**
 * All watches of one cache with the same selection and representation: they get the same bytes. Each batch of events
 * is made once and written to every subscriber that keeps up; one whose socket is full steps aside and catches up
 * from the history at its own pace, so nothing is ever queued for it.
 */
export class Lane {
  readonly key: string;
  readonly cache: ReadableCache;
  readonly selection: Selection;
  readonly representation: Representation;
  readonly sent: SentCount;
  readonly #stats: FanoutStats;
  readonly #live = new Set<Subscriber>();
  /** The first event not yet written that may concern this lane; `undefined` when there is none. */
  #pending: number | undefined;
  /** All events before this position that concern this lane were written to the live subscribers. */
  cursor: number;
  size = 0;

  constructor(cache: ReadableCache, options: LaneOptions) {
    this.cache = cache;
    this.key = options.key;
    this.selection = options.selection;
    this.representation = options.representation;
    this.#stats = options.stats;
    this.sent = options.sent;
    this.cursor = cache.next;
  }

  /** The first event that waits to be written. */
  get pending(): number | undefined {
    return this.#pending;
  }

  /** An event that may concern this lane waits to be written. */
  note(position: number): void {
    this.#pending ??= position;
  }

  /** Writes all that waits. What cannot be shown ends the watches, with the reason. */
  flush(): void {
    const from = this.#pending;
    this.#pending = undefined;
    this.cursor = this.cache.next;
    if (this.#live.size === 0 || from === undefined) return;
    try {
      const chunk = this.batch(from, this.cursor);
      if (chunk === undefined) return;
      for (const subscriber of this.#live) this.#write(subscriber, chunk);
    } catch (error) {
      for (const subscriber of [...this.#live]) subscriber.fail(toApiError(error));
    }
  }

  /** Same bytes for everybody who is up to date: bookmarks. */
  bookmark(): void {
    this.flush();
    const chunk = this.bookmarkChunk();
    for (const subscriber of this.#live) if (subscriber.bookmarks) this.#write(subscriber, chunk);
  }

  bookmarkBytes(version: string, initialEventsEnd: boolean): Buffer {
    return eventBytes("BOOKMARK", this.representation.bookmark(version, initialEventsEnd));
  }

  /** A bookmark of the version that live subscribers have been written. */
  bookmarkChunk(): Chunk {
    return new Chunk([this.bookmarkBytes(this.cache.head, false)], 1);
  }

  /** Takes in a subscriber that has been written everything before {@link cursor}. */
  admit(subscriber: Subscriber): void {
    this.#live.add(subscriber);
  }

  dismiss(subscriber: Subscriber): void {
    this.#live.delete(subscriber);
  }

  /**
   * The events in [from, to) as this lane's clients see them; `undefined` when they see none of them.
   *
   * @throws ApiError when one of them cannot be shown, as of an object that cannot be converted
   */
  batch(from: number, to: number): Chunk | undefined {
    const pieces: Buffer[] = [];
    let events = 0;
    for (let position = from; position < to; position++) events += this.#render(this.cache.event(position), pieces);
    if (pieces.length === 0) return undefined;
    return new Chunk(pieces, events);
  }

  /** One event as this lane's clients see it, for a single watch. @throws as {@link batch} */
  pieces(event: CacheEvent): readonly Buffer[] {
    const pieces: Buffer[] = [];
    this.sent.events += this.#render(event, pieces);
    return pieces;
  }

  /** @returns how many events it is to this lane's clients */
  #render(event: CacheEvent, pieces: Buffer[]): number {
    let events = 0;
    for (const step of this.selection.steps(event)) {
      const { representation } = this;
      const object = step === "DELETED" ? event.removed() : (event.object ?? event.removed());
      const bytes = event.rendered(`${representation.key} ${step === "DELETED"}`, () => {
        this.#stats.rendered += 1;
        const made = representation.object(object);
        return representation.verbatim ? made : keptBytes(made);
      });
      pieces.push(...eventPieces(step, bytes));
      events += 1;
    }
    return events;
  }

  #write(subscriber: Subscriber, chunk: Chunk): void {
    this.#stats.delivered += 1;
    if (!subscriber.write(chunk)) {
      this.#live.delete(subscriber);
      subscriber.lagAt(this.cursor);
    }
  }
}

/** The last event of a watch that can no longer be continued truthfully. */
export function errorEvent(error: ApiError): Buffer {
  return eventBytes("ERROR", Buffer.from(JSON.stringify(error.status)));
}
