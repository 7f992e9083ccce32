import type { FollowEvent } from "@virtual-workspaces/client";
import { isSameServer, positionOf, type SpacePosition } from "./cursor.ts";
import type { Engagement } from "./engaged-space.ts";
import { type FeedOptions, SpaceFeed, type Start } from "./space-feed.ts";
import type { SpaceName } from "./space-name.ts";
import type { ResetReason, SpaceEventContent } from "./watch-events.ts";

/** One Space in a stream, across all its connections: its next event, and the position of the reader. */
export class SpaceLine<T extends object> {
  readonly name: SpaceName;
  /** Position of the reader; absent before the first event. */
  position: SpacePosition | undefined;
  readonly #options: FeedOptions<T>;
  readonly #ready: () => void;
  #left: "deleted" | "gone" | undefined;
  #shown: SpaceFeed<T> | undefined;
  /** Feed of a new connection. It replaces the current one once it has read the initial list. */
  #coming: SpaceFeed<T> | undefined;

  constructor(name: SpaceName, options: FeedOptions<T>, ready: (line: SpaceLine<T>) => void) {
    this.name = name;
    this.#options = options;
    this.#ready = () => ready(this);
  }

  /** Whether an event is available. */
  get isReady(): boolean {
    return this.#left !== undefined || this.#shown?.isReady === true;
  }

  /** Whether no more events can follow and the reader has none of its objects. */
  get isOver(): boolean {
    return this.#shown === undefined && this.#left === undefined && this.position === undefined;
  }

  /** Starts to read the Space from its current server. Resolves when the previous connection is no longer in use. */
  async engage(space: Engagement): Promise<void> {
    const before = [this.#shown, this.#coming];
    const feed = new SpaceFeed<T>(space, this.#startOf(space), this.#options);
    void this.#coming?.[Symbol.asyncDispose]();
    this.#coming = undefined;
    if (this.#shown === undefined) this.#shown = feed;
    else this.#coming = feed;
    feed.pull(() => this.#come(feed));
    await Promise.all(before.map((one) => one?.ended));
  }

  /** Handles the end of the Space. Resolves when its connections are no longer in use. */
  async leave(how: "deleted" | "gone"): Promise<void> {
    const ended = this.end();
    if (this.position !== undefined) this.#left = how;
    this.#ready();
    await ended;
  }

  /** Stops reading. */
  async end(): Promise<void> {
    const feeds = [this.#shown, this.#coming];
    this.#shown = undefined;
    this.#coming = undefined;
    await Promise.all(feeds.map((feed) => feed?.[Symbol.asyncDispose]()));
  }

  /** Takes the next event. @returns `undefined` if it is not for the reader */
  take(): SpaceEventContent<T> | undefined {
    const how = this.#left;
    if (how !== undefined) {
      this.#left = undefined;
      this.position = undefined;
      return { type: "LEFT", space: this.name, how };
    }
    const feed = this.#shown;
    const event = feed?.take();
    if (feed === undefined || event === undefined) return undefined;
    feed.pull(() => this.#come(feed));
    return this.#contentOf(feed, event);
  }

  #come(feed: SpaceFeed<T>): void {
    if (feed === this.#coming) {
      void this.#shown?.[Symbol.asyncDispose]();
      this.#shown = feed;
      this.#coming = undefined;
    }
    this.#ready();
  }

  #startOf(space: Engagement): Start {
    const { position } = this;
    const everything = (reason: ResetReason): Start => ({ version: "", reason });
    const now = positionOf(space, "");
    if (this.#shown !== undefined) return everything("moved");
    if (position === undefined || this.#left !== undefined) return everything("incomplete");
    if (position.id !== now.id) return everything("replaced");
    return isSameServer(position, now) ? { version: position.version, reason: "incomplete" } : everything("moved");
  }

  #contentOf(feed: SpaceFeed<T>, event: FollowEvent<T>): SpaceEventContent<T> | undefined {
    const space = this.name;
    if (event.type === "READ") {
      feed.isSynced = false;
      if (this.position === undefined) return undefined;
      this.position = feed.position;
      return { type: "RESET", space, reason: event.reason ?? feed.reason };
    }
    if (event.type === "SYNCED") feed.isSynced = true;
    if (feed.isSynced) this.position = { ...feed.position, version: event.version };
    else this.position ??= feed.position;
    if (event.type === "SYNCED" || event.type === "BOOKMARK") return { type: event.type, space };
    return { type: event.type, space, object: event.object };
  }
}
