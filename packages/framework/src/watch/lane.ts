import { ApiError, toApiError } from "@virtual-workspaces/apimachinery";
import { keptBytes } from "../encode/pieces.ts";
import type { Representation } from "../encode/representation.ts";
import type { CacheEvent, ReadableCache } from "./cache/cache-event.ts";
import { Chunk, type EventStream } from "./event-stream.ts";
import type { Selection } from "./selection.ts";

/** Counters of streams. */
export interface FanoutStats {
  /** Events rendered: once per event and representation, however many watches. */
  rendered: number;
  /** Batches of events written to a watch. */
  delivered: number;
}

/** Counter of events of one resource that were sent to watches. */
export interface SentCount {
  events: number;
}

export interface LaneOptions {
  readonly selection: Selection;
  readonly representation: Representation;
  readonly stats: FanoutStats;
  readonly sent: SentCount;
  /** Key of the lane in its fanout. */
  readonly key: string;
}

/**
 * All watches of one cache with the same selection and representation, which get the same bytes. Each batch of events is made
 * once and written to every subscriber that keeps up. A subscriber with a full socket leaves the lane and catches up from the
 * history at its own pace, so that nothing is queued for it.
 */
export class Lane {
  readonly key: string;
  readonly cache: ReadableCache;
  readonly selection: Selection;
  readonly representation: Representation;
  readonly sent: SentCount;
  readonly #stats: FanoutStats;
  readonly #live = new Set<Subscriber>();
  /** Position of the first unwritten event that may concern this lane; `undefined` when there is none. */
  #pending: number | undefined;
  /** Live subscribers have received all of this lane's events before this position. */
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

  /** Position of the first event that waits to be written. */
  get pending(): number | undefined {
    return this.#pending;
  }

  /** Notes that an event that may concern this lane waits to be written. */
  note(position: number): void {
    this.#pending ??= position;
  }

  /** Writes all waiting events. An event that cannot be shown ends the watches with its error. */
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

  /** Writes a bookmark, with the same bytes, to all subscribers that are up to date. */
  bookmark(): void {
    this.flush();
    const chunk = this.bookmarkChunk();
    for (const subscriber of this.#live) if (subscriber.bookmarks) this.#write(subscriber, chunk);
  }

  /** Returns a bookmark in pieces. */
  bookmarkPieces(version: string, initialEventsEnd: boolean): readonly Buffer[] {
    const { representation } = this;
    const object = representation.bookmark(version, initialEventsEnd);
    return representation.events.pieces("BOOKMARK", object, this.cache.bookmarkDetails?.());
  }

  /** Returns a bookmark at the version that live subscribers have received. */
  bookmarkChunk(): Chunk {
    return new Chunk([this.bookmarkPieces(this.cache.head, false)]);
  }

  /** Adds a subscriber that has received everything before {@link cursor}. */
  admit(subscriber: Subscriber): void {
    this.#live.add(subscriber);
  }

  dismiss(subscriber: Subscriber): void {
    this.#live.delete(subscriber);
  }

  /**
   * Returns the events in [from, to) as this lane's clients see them; `undefined` when they see none of them.
   *
   * @throws ApiError when one cannot be shown, for example because its object cannot be converted
   */
  batch(from: number, to: number): Chunk | undefined {
    const events: (readonly Buffer[])[] = [];
    for (let position = from; position < to; position++) this.#render(this.cache.event(position), events);
    return events.length === 0 ? undefined : new Chunk(events);
  }

  /** Returns one event as this lane's clients see it, as events in pieces, for a single watch. @throws as {@link batch} */
  shown(event: CacheEvent): readonly (readonly Buffer[])[] {
    const events: (readonly Buffer[])[] = [];
    this.#render(event, events);
    this.sent.events += events.length;
    return events;
  }

  /** Adds what this lane's clients see of an event. */
  #render(event: CacheEvent, events: (readonly Buffer[])[]): void {
    for (const step of this.selection.steps(event)) {
      const { representation } = this;
      const object = step === "DELETED" ? event.removed() : (event.object ?? event.removed());
      const bytes = event.rendered(`${representation.key} ${step === "DELETED"}`, () => {
        this.#stats.rendered += 1;
        const made = representation.object(object);
        return representation.verbatim ? made : keptBytes(made);
      });
      events.push(representation.events.pieces(step, bytes, event.details));
    }
  }

  #write(subscriber: Subscriber, chunk: Chunk): void {
    this.#stats.delivered += 1;
    if (!subscriber.write(chunk)) {
      this.#live.delete(subscriber);
      subscriber.lagAt(this.cursor);
    }
  }
}

/** Number of events that a lagging subscriber gets between two checks of its socket. */
const SLICE_EVENTS = 64;

interface SubscriberOptions {
  /** Whether the watch gets BOOKMARK events. */
  readonly bookmarks: boolean;
  /** Whether initial events are written first: the watch cannot end before that. */
  readonly initialEvents: boolean;
  /** Whether the storage's history reaches further back than the cache: a watch that falls behind then ends cleanly, and resumes. */
  readonly remembered: boolean;
}

/** One open watch: the client's stream, a lane, and, while it lags, its own position in the history. */
export class Subscriber {
  readonly bookmarks: boolean;
  readonly #remembered: boolean;
  readonly #lane: Lane;
  readonly #stream: EventStream;
  #cursor = 0;
  #live = false;
  /** Ends the watch after the initial events: nothing may be written between their pieces. */
  #ending: (() => void) | undefined;
  #begun: boolean;

  constructor(lane: Lane, stream: EventStream, options: SubscriberOptions) {
    this.#lane = lane;
    this.#stream = stream;
    this.bookmarks = options.bookmarks;
    this.#remembered = options.remembered;
    this.#begun = !options.initialEvents;
  }

  /** Writes a batch. @returns whether the socket takes more */
  write(chunk: Chunk): boolean {
    this.#lane.sent.events += chunk.events;
    return this.#stream.write(chunk);
  }

  /** Marks the subscriber as lagging from `cursor`; it continues when the socket drains. */
  lagAt(cursor: number): void {
    this.#live = false;
    this.#cursor = cursor;
    this.#stream.onceDrained(this.#resume);
  }

  /** Delays the end of the watch until {@link start}, while earlier events are written. See {@link ending}. */
  hold(): void {
    this.#begun = false;
  }

  /** Whether the watch ends as soon as it has started. */
  get ending(): boolean {
    return this.#ending !== undefined;
  }

  /** Continues at `from` after the initial events, catches up, then joins the lane. An error instead of a position ends the watch. */
  start(from: number | ApiError): void {
    if (this.#stream.over) return;
    this.#begun = true;
    if (this.#ending !== undefined) this.#ending();
    else if (typeof from !== "number") this.fail(from);
    else {
      this.#lane.flush();
      this.#cursor = from;
      this.#resume();
    }
  }

  /** Ends the watch with an ERROR event: it cannot be continued. */
  fail(error: ApiError): void {
    this.#finish(() => this.#stream.end(error));
  }

  /** Ends the watch cleanly: the client may resume from its last version. */
  end(): void {
    this.#finish(() => {
      this.#lane.flush();
      if (this.bookmarks && this.#live) this.write(this.#lane.bookmarkChunk());
      this.#stream.end();
    });
  }

  #finish(ending: () => void): void {
    if (this.#stream.over) return;
    if (!this.#begun) {
      this.#ending ??= ending;
      return;
    }
    ending();
    this.#lane.dismiss(this);
  }

  readonly #resume = (): void => {
    const { cache } = this.#lane;
    if (this.#stream.over) return;
    while (this.#cursor < this.#lane.cursor) {
      if (this.#cursor < cache.first) {
        if (this.#remembered) this.#finish(() => this.#stream.end());
        else this.fail(ApiError.expired("too old resource version: the watch fell behind the history that is kept"));
        return;
      }
      const to = Math.min(this.#cursor + SLICE_EVENTS, this.#lane.cursor);
      const chunk = this.#batch(to);
      if (chunk === "failed") return;
      this.#cursor = to;
      if (chunk !== undefined && !this.write(chunk)) {
        this.#stream.onceDrained(this.#resume);
        return;
      }
    }
    this.#live = true;
    this.#lane.admit(this);
  };

  #batch(to: number): Chunk | undefined | "failed" {
    try {
      return this.#lane.batch(this.#cursor, to);
    } catch (error) {
      this.fail(toApiError(error));
      return "failed";
    }
  }
}
