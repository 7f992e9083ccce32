import type { ServerResponse } from "node:http";
import { ApiError, toApiError } from "@virtual-workspaces/apimachinery";
import { type Chunk, ChunkStream } from "../encode/chunk.ts";
import { errorEvent, type Lane } from "./lane.ts";

/** Events written in one go to a subscriber that catches up, before asking its socket again. */
const SLICE_EVENTS = 64;

export interface SubscriberOptions {
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
