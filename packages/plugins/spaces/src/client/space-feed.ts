import type { KindReference } from "@virtual-workspaces/apimachinery";
import { type FollowEvent, follow, type Slot } from "@virtual-workspaces/client";
import { positionOf, type SpacePosition } from "./cursor.ts";
import type { Engagement } from "./engaged-space.ts";
import type { ResetReason, SpaceWatchOptions } from "./watch-events.ts";

/** What all feeds of a stream have in common. */
export interface FeedOptions<T> {
  readonly kind: KindReference<T>;
  readonly select: Omit<SpaceWatchOptions, "cursor" | "signal">;
  readonly slot: (signal: AbortSignal) => Promise<Slot>;
  readonly failed: (space: string, error: unknown) => void;
  /** It cannot go on, since the program is wrong. */
  readonly broken: (error: unknown) => void;
}

/** Where a feed begins. */
export interface Start {
  /** "": with everything. */
  readonly version: string;
  /** Why it begins with everything, where something was known. */
  readonly reason: ResetReason;
}

/** What one Space tells, over one way to reach it: the next event, and after that has been taken the next. So what nobody takes waits at the server. */
export class SpaceFeed<T extends object> implements AsyncDisposable {
  /** Resolves when its connections are of no more use. */
  readonly ended: Promise<void>;
  readonly reason: ResetReason;
  /** Where it is read, without a version. */
  readonly position: SpacePosition;
  /** Whether everything that is there has been taken. */
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

  /** Whether there is something to take. */
  get isReady(): boolean {
    return this.#next !== undefined;
  }

  /** Asks for what is next. @param ready told when it is there, unless this has been disposed of */
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

  /** What is next, once. */
  take(): FollowEvent<T> | undefined {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  /** Nothing more comes of it, from now on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#next = undefined;
    await this.#events.return();
    this.#end.resolve();
  }
}
