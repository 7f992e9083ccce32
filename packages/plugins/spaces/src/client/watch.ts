import type { KindReference } from "@virtual-workspaces/apimachinery";
import { abortable, Pace } from "@virtual-workspaces/transport";
import { cursorText, positionsIn, type SpacePosition, SpacePositions, selectionOf } from "./cursor.ts";
import type { Engagement } from "./engaged-space.ts";
import type { SpaceEngager } from "./engagements.ts";
import type { FeedOptions } from "./space-feed.ts";
import { SpaceLine } from "./space-line.ts";
import type { SpaceName } from "./space-name.ts";
import type { SpaceEvent, SpaceEventContent, SpaceWatchOptions } from "./watch-events.ts";

/** Spaces of a watch. */
export interface WatchedSpaces extends Pick<FeedOptions<unknown>, "slot" | "failed"> {
  /** Resolves when the Spaces are known. */
  readonly synced: Promise<void>;
  readonly isThere: (space: SpaceName) => boolean;
  /** Calls a consumer for each usable Space. */
  readonly engage: (engager: SpaceEngager) => Disposable;
  readonly onChange: (look: () => void) => Disposable;
}

export function watchAcross<T extends object>(
  kind: KindReference<T>,
  { cursor, signal, ...select }: SpaceWatchOptions,
  spaces: WatchedSpaces,
): AsyncGenerator<SpaceEvent<T>, void, undefined> {
  return abortable(signal, async function* (ended) {
    ended.throwIfAborted();
    const selection = selectionOf(kind, select);
    const positions = cursor === undefined ? [] : positionsIn(cursor, selection);
    const { slot, failed } = spaces;
    await using stream = new SpaceStream<T>({ kind, select, slot, failed, selection, positions });
    ended.addEventListener("abort", () => stream.end(), { once: true });
    using _engaged = spaces.engage(stream);
    using _followed = followCursor(stream, spaces);
    for (;;) {
      const event = await stream.take();
      ended.throwIfAborted();
      if (event === undefined) return;
      yield event;
    }
  });
}

/** Looks for the Spaces of a cursor, once the Spaces are known and after each change. */
function followCursor(
  stream: Pick<SpaceStream<object>, "look" | "end">,
  { synced, isThere, onChange }: WatchedSpaces,
): Disposable {
  const followed = new DisposableStack();
  const look = (): void => stream.look(isThere);
  const begin = (): void => {
    if (followed.disposed) return;
    look();
    followed.use(onChange(look));
  };
  synced.then(begin, () => stream.end());
  return followed;
}

interface StreamOptions<T> extends Omit<FeedOptions<T>, "broken"> {
  /** Digest of the selection. */
  readonly selection: string;
  /** Positions of the reader. */
  readonly positions: readonly SpacePosition[];
}

/** A line with its index. */
interface QueuedLine<T extends object> {
  readonly line: SpaceLine<T>;
  /** Index of its position. */
  readonly at: number;
  isInLine: boolean;
}

/**
 * Stream of one event at a time from all Spaces. At most one event of each Space is buffered, and Spaces with events are served in turn, so
 * that each waits for at most one event of every other Space.
 */
class SpaceStream<T extends object> implements SpaceEngager {
  readonly #options: StreamOptions<T>;
  readonly #lines = new Map<SpaceName, QueuedLine<T>>();
  /** Spaces of the cursor that have not been found yet. */
  readonly #missed = new Set<SpaceName>();
  /** Unused indices. */
  readonly #free: number[] = [];
  readonly #ready: QueuedLine<T>[] = [];
  readonly #pace = new Pace();
  #positions = new SpacePositions();
  #changed = Promise.withResolvers<void>();
  #broken: { readonly error: unknown } | undefined;
  #isOver = false;

  constructor(options: StreamOptions<T>) {
    this.#options = options;
    for (const position of options.positions) {
      const { line, at } = this.#lineOf(position.space);
      line.position = position;
      this.#positions = this.#positions.with(at, position);
      this.#missed.add(position.space);
    }
  }

  async engage(space: Engagement): Promise<void> {
    if (this.#isOver) return;
    this.#missed.delete(space.name);
    try {
      await this.#lineOf(space.name).line.engage(space);
    } catch (error) {
      this.#break(error);
    }
  }

  async disengage({ name }: Engagement, how: "deleted" | "gone"): Promise<void> {
    await this.#lines.get(name)?.line.leave(how);
  }

  /** Looks for the Spaces of the cursor. Missing ones were removed while the reader was disconnected. */
  look(isThere: (space: SpaceName) => boolean): void {
    for (const name of this.#missed) {
      if (isThere(name)) continue;
      this.#missed.delete(name);
      void this.#lines.get(name)?.line.leave("gone");
    }
  }

  /** Returns the next event; `undefined` at the end. @throws programming errors */
  async take(): Promise<SpaceEvent<T> | undefined> {
    while (!this.#isOver) {
      if (this.#broken !== undefined) throw this.#broken.error;
      // The pause lets events of other Spaces arrive, even if one Space has many.
      const rest = this.#pace.isOver ? this.#pace.rest() : undefined;
      if (rest !== undefined) await rest;
      const queued = this.#ready.shift();
      if (queued === undefined) await this.#nextChange();
      else {
        const content = this.#takeFrom(queued);
        const positions = this.#positions;
        if (content !== undefined) return Object.assign(new EventCursor(this.#options.selection, positions), content);
      }
    }
    return undefined;
  }

  /** Stops all events. */
  end(): void {
    this.#isOver = true;
    this.#changed.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await Promise.all(Array.from(this.#lines.values(), ({ line }) => line.end()));
  }

  #takeFrom(queued: QueuedLine<T>): SpaceEventContent<T> | undefined {
    const { line, at } = queued;
    queued.isInLine = false;
    const before = line.position;
    const content = line.take();
    if (line.position !== before) this.#positions = this.#positions.with(at, line.position);
    if (line.isReady) this.#queue(queued);
    else if (line.isOver) this.#drop(queued);
    return content;
  }

  #lineOf(name: SpaceName): QueuedLine<T> {
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const at = this.#free.pop() ?? this.#lines.size;
    const feeds = { ...this.#options, broken: (error: unknown) => this.#break(error) };
    const line = new SpaceLine<T>(name, feeds, () => this.#queue(queued));
    const queued: QueuedLine<T> = { line, at, isInLine: false };
    this.#lines.set(name, queued);
    return queued;
  }

  #drop(queued: QueuedLine<T>): void {
    const { name } = queued.line;
    if (this.#lines.get(name) !== queued) return; // Another line has this name by now.
    this.#lines.delete(name);
    this.#free.push(queued.at);
  }

  #queue(queued: QueuedLine<T>): void {
    if (queued.isInLine) return;
    queued.isInLine = true;
    this.#ready.push(queued);
    this.#changed.resolve();
  }

  #break(error: unknown): void {
    this.#broken ??= { error };
    this.#changed.resolve();
  }

  async #nextChange(): Promise<void> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
  }
}

/** Cursor of an event. */
class EventCursor {
  readonly #selection: string;
  readonly #positions: SpacePositions;
  #cursor: string | undefined;

  constructor(selection: string, positions: SpacePositions) {
    this.#selection = selection;
    this.#positions = positions;
  }

  get cursor(): string {
    this.#cursor ??= cursorText(this.#selection, this.#positions);
    return this.#cursor;
  }
}
