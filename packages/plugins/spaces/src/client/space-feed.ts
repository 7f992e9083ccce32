import type { KindReference } from "@virtual-workspaces/apimachinery";
import { type FollowEvent, follow, type Slot } from "@virtual-workspaces/client";
import { positionOf, type SpacePosition } from "./cursor.ts";
import type { Engagement } from "./engaged-space.ts";
import type { ResetReason, SpaceWatchOptions } from "./watch-events.ts";

/** Options of all feeds of a stream. */
export interface FeedOptions<T> {
  readonly kind: KindReference<T>;
  readonly select: Omit<SpaceWatchOptions, "cursor" | "signal">;
  readonly slot: (signal: AbortSignal) => Promise<Slot>;
  readonly failed: (space: string, error: unknown) => void;
  /** Called with a programming error, which ends the feed. */
  readonly broken: (error: unknown) => void;
}

/** Start of a feed. */
export interface Start {
  /** Resource version; "" to start with a list. */
  readonly version: string;
  /** Reason for a new list if some objects were known. */
  readonly reason: ResetReason;
}

/** Events of one Space over one connection. The feed holds one event at a time, so that events without a reader wait at the server. */
export class SpaceFeed<T extends object> implements AsyncDisposable {
  /** Resolves when the connections are no longer in use. */
  readonly ended: Promise<void>;
  readonly reason: ResetReason;
  /** Server of the feed, without a version. */
  readonly position: SpacePosition;
  /** Whether the reader has taken all objects of the initial list. */
  isSynced: boolean;
  readonly #events: AsyncGenerator<FollowEvent<T>, void, undefined>;
  readonly #end = Promise.withResolvers<void>();
  readonly #options: FeedOptions<T>;
  #next: FollowEvent<T> | undefined;
  #isOver = false;

  constructor(space: Engagement, { version, reason }: Start, options: FeedOptions<T>) {
    const { kind, select, slot, failed } = options;
    const { namespace, ...rest } = select;
    const all = space.client.resource(kind);
    this.ended = this.#end.promise;
    this.#options = options;
    this.reason = reason;
    this.position = positionOf(space, "");
    this.isSynced = version !== "";
    this.#events = follow(namespace === undefined ? all : all.in(namespace), {
      ...rest,
      slot,
      resourceVersion: version,
      onError: (error) => {
        if (!this.#isOver) failed(space.name, error);
      },
    });
  }

  /** Whether an event is available. */
  get isReady(): boolean {
    return this.#next !== undefined;
  }

  /** Requests the next event. @param ready called when it is available, unless the feed was disposed of */
  pull(ready: () => void): void {
    this.#events.next().then(
      ({ done, value }) => {
        if (this.#isOver || done === true) return;
        this.#next = value;
        ready();
      },
      (error: unknown) => {
        if (!this.#isOver) this.#options.broken(error);
      },
    );
  }

  /** Takes the available event. */
  take(): FollowEvent<T> | undefined {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  /** Stops all events at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#next = undefined;
    await this.#events.return();
    this.#end.resolve();
  }
}
