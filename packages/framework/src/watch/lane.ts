import type { ServerResponse } from "node:http";
import { ApiError, toApiError } from "@virtual-workspaces/apimachinery";
import { Chunk, ChunkStream, keptBytes } from "../encode/pieces.ts";
import { eventBytes, eventPieces, type Representation } from "../encode/representation.ts";
import type { CacheEvent, ReadableCache } from "./cache/cache-event.ts";
import type { Selection } from "./selection.ts";

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
function errorEvent(error: ApiError): Buffer {
  return eventBytes("ERROR", Buffer.from(JSON.stringify(error.status)));
}

/** Events written in one go to a subscriber that catches up, before asking its socket again. */
const SLICE_EVENTS = 64;

interface SubscriberOptions {
  /** Whether it gets BOOKMARK events. */
  readonly bookmarks: boolean;
  /** Whether initial events are written before it starts: until then it cannot end. */
  readonly initialEvents: boolean;
  /** Whether somebody remembers longer than the cache: one that falls behind it ends cleanly then, and resumes from there. */
  readonly remembered: boolean;
}

/** One open watch: a response, a lane, and, while it lags, its own place in the history. */
export class Subscriber {
  readonly bookmarks: boolean;
  readonly #remembered: boolean;
  readonly #lane: Lane;
  readonly #response: ServerResponse;
  readonly #stream: ChunkStream;
  #cursor = 0;
  #live = false;
  /** How it ends once the initial events are out: nothing may come between the pieces they are written in. */
  #ending: (() => void) | undefined;
  #begun: boolean;

  constructor(lane: Lane, response: ServerResponse, options: SubscriberOptions) {
    this.#lane = lane;
    this.#response = response;
    this.#stream = new ChunkStream(response);
    this.bookmarks = options.bookmarks;
    this.#remembered = options.remembered;
    this.#begun = !options.initialEvents;
  }

  /** False when the socket wants no more for now. */
  write(chunk: Chunk): boolean {
    this.#lane.sent.events += chunk.events;
    return this.#stream.write(chunk);
  }

  /** Has written everything before `cursor`, and goes on when the socket drains. */
  lagAt(cursor: number): void {
    this.#live = false;
    this.#cursor = cursor;
    this.#stream.onceDrained(this.#resume);
  }

  /** Something is written before it starts: until then it cannot end, only be {@link ending}. */
  hold(): void {
    this.#begun = false;
  }

  /** Whether it ends as soon as it has started. */
  get ending(): boolean {
    return this.#ending !== undefined;
  }

  /**
   * The initial events are out: goes on from `from` until there is nothing left, then joins the lane. An error instead
   * of a position ends the watch.
   */
  start(from: number | ApiError): void {
    if (this.#response.writableEnded) return;
    this.#begun = true;
    if (this.#ending !== undefined) this.#ending();
    else if (typeof from !== "number") this.fail(from);
    else {
      this.#lane.flush();
      this.#cursor = from;
      this.#resume();
    }
  }

  /** Ends the watch with an ERROR event: it can't be continued truthfully. */
  fail(error: ApiError): void {
    this.#finish(() => this.#response.end(errorEvent(error)));
  }

  /** Ends the watch cleanly: the client may resume from its last version. */
  end(): void {
    this.#finish(() => {
      this.#lane.flush();
      if (this.bookmarks && this.#live) this.write(this.#lane.bookmarkChunk());
      this.#response.end();
    });
  }

  #finish(ending: () => void): void {
    if (this.#response.writableEnded) return;
    if (!this.#begun) {
      this.#ending ??= ending;
      return;
    }
    ending();
    this.#lane.dismiss(this);
  }

  readonly #resume = (): void => {
    const { cache } = this.#lane;
    if (this.#response.writableEnded || this.#response.destroyed) return;
    while (this.#cursor < this.#lane.cursor) {
      if (this.#cursor < cache.first) {
        if (this.#remembered) this.#finish(() => this.#response.end());
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
