import type { ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { errorEvent, type Lane } from "./lane.ts";

/** Bytes written in one go to a subscriber that catches up, before asking its socket again. */
const SLICE_EVENTS = 64;

/** One open watch: a response, a lane, and, while it lags, its own place in the history. */
export class Subscriber {
  readonly bookmarks: boolean;
  readonly #lane: Lane;
  readonly #response: ServerResponse;
  #cursor = 0;
  #live = false;

  constructor(lane: Lane, response: ServerResponse, options: { readonly bookmarks: boolean }) {
    this.#lane = lane;
    this.#response = response;
    this.bookmarks = options.bookmarks;
  }

  /** False when the socket wants no more for now. */
  write(bytes: Buffer): boolean {
    return this.#response.write(bytes);
  }

  /** Has written everything before `cursor`, and goes on when the socket drains. */
  lagAt(cursor: number): void {
    this.#live = false;
    this.#cursor = cursor;
    this.#response.once("drain", this.#resume);
  }

  /** Goes on from `cursor` until there is nothing left, then joins the lane. */
  start(cursor: number): void {
    this.#lane.flush();
    this.#cursor = cursor;
    this.#resume();
  }

  /** Ends the watch with an ERROR event: it can't be continued truthfully. */
  fail(error: ApiError): void {
    if (this.#response.writableEnded) return;
    this.#lane.dismiss(this);
    this.#response.end(errorEvent(error));
  }

  /** Ends the watch cleanly: the client may resume from its last version. */
  end(): void {
    if (this.#response.writableEnded) return;
    this.#lane.flush();
    this.#lane.dismiss(this);
    if (this.bookmarks && this.#live) this.write(this.#lane.bookmarkBytes(this.#lane.cache.head, false));
    this.#response.end();
  }

  readonly #resume = (): void => {
    const { cache } = this.#lane;
    while (this.#cursor < this.#lane.cursor) {
      if (this.#response.writableEnded || this.#response.destroyed) return;
      if (this.#cursor < cache.first) {
        this.fail(ApiError.expired("too old resource version: the watch fell behind the history that is kept"));
        return;
      }
      const to = Math.min(this.#cursor + SLICE_EVENTS, this.#lane.cursor);
      const bytes = this.#lane.batch(this.#cursor, to);
      this.#cursor = to;
      if (bytes !== undefined && !this.write(bytes)) {
        this.#response.once("drain", this.#resume);
        return;
      }
    }
    this.#live = true;
    this.#lane.admit(this);
  };
}
