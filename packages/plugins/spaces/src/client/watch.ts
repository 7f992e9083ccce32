import type { KindReference } from "@virtual-workspaces/apimachinery";
import { endable, Turns } from "@virtual-workspaces/client";
import type { Engagement } from "./engaged-space.ts";
import type { SpaceEngager } from "./engagements.ts";
import type { SpaceName } from "./space-name.ts";
import { cursorText, type Place, Places, placesIn, selectionOf } from "./cursor.ts";
import type { SpaceEvent, SpaceEventContent, SpaceWatchOptions } from "./watch-events.ts";
import type { FeedOptions } from "./space-feed.ts";
import { SpaceLine } from "./space-line.ts";

/** What a watch needs of the Spaces that it is of. */
export interface WatchedSpaces extends Pick<FeedOptions<unknown>, "slot" | "failed"> {
  /** Resolves when it is known which there are. */
  readonly synced: Promise<void>;
  readonly isThere: (space: SpaceName) => boolean;
  /** Has something follow those that can be used. */
  readonly engage: (engager: SpaceEngager) => Disposable;
  readonly onChange: (look: () => void) => Disposable;
}

export function watchAcross<T extends object>(
  kind: KindReference<T>,
  { cursor, signal, ...select }: SpaceWatchOptions,
  spaces: WatchedSpaces,
): AsyncGenerator<SpaceEvent<T>, void, undefined> {
  return endable(signal, async function* (ended) {
    ended.throwIfAborted();
    const selection = selectionOf(kind, select);
    const places = cursor === undefined ? [] : placesIn(cursor, selection);
    const { slot, failed } = spaces;
    await using stream = new SpaceStream<T>({ kind, select, slot, failed, selection, places });
    ended.addEventListener("abort", () => stream.end(), { once: true });
    using _engaged = spaces.engage(stream);
    using _followed = followed(stream, spaces);
    for (;;) {
      const event = await stream.take();
      ended.throwIfAborted();
      if (event === undefined) return;
      yield event;
    }
  });
}

/** Has those of the cursor looked for, as soon as it is known which there are, and whenever that changes. */
function followed(
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
  /** Of what the cursors are. */
  readonly selection: string;
  /** What the reader knows already. */
  readonly places: readonly Place[];
}

/** A line, and where it stands. */
interface Standing<T extends object> {
  readonly line: SpaceLine<T>;
  /** The number of its place. */
  readonly at: number;
  isInLine: boolean;
}

/**
 * What happens in all Spaces, one event at a time. Of each Space one event at most waits here; whoever has one is served in turn, so that
 * none waits for more than one of each other one.
 */
class SpaceStream<T extends object> implements SpaceEngager {
  readonly #options: StreamOptions<T>;
  readonly #lines = new Map<SpaceName, Standing<T>>();
  /** Those of the cursor that have not been found yet. */
  readonly #missed = new Set<SpaceName>();
  /** Numbers of places that nobody has. */
  readonly #free: number[] = [];
  readonly #ready: Standing<T>[] = [];
  readonly #turns = new Turns();
  #places = new Places();
  #changed = Promise.withResolvers<void>();
  #broken: { readonly error: unknown } | undefined;
  #isOver = false;

  constructor(options: StreamOptions<T>) {
    this.#options = options;
    for (const place of options.places) {
      const { line, at } = this.#standing(place.space);
      line.place = place;
      this.#places = this.#places.with(at, place);
      this.#missed.add(place.space);
    }
  }

  async engage(space: Engagement): Promise<void> {
    if (this.#isOver) return;
    this.#missed.delete(space.name);
    try {
      await this.#standing(space.name).line.engage(space);
    } catch (error) {
      this.#break(error);
    }
  }

  async disengage({ name }: Engagement, how: "deleted" | "gone"): Promise<void> {
    await this.#lines.get(name)?.line.leave(how);
  }

  /** Looks for the Spaces of the cursor. Those that are not there have left while nobody looked. */
  look(isThere: (space: SpaceName) => boolean): void {
    for (const name of this.#missed) {
      if (isThere(name)) continue;
      this.#missed.delete(name);
      void this.#lines.get(name)?.line.leave("gone");
    }
  }

  /** The next event; `undefined`: there will be none. @throws what is wrong with the program */
  async take(): Promise<SpaceEvent<T> | undefined> {
    while (!this.#isOver) {
      if (this.#broken !== undefined) throw this.#broken.error;
      // So that what has come from others is seen, however much there is of one.
      const rest = this.#turns.rest();
      if (rest !== undefined) await rest;
      const standing = this.#ready.shift();
      if (standing === undefined) await this.#change();
      else {
        const content = this.#taken(standing);
        const places = this.#places;
        if (content !== undefined) return Object.assign(new Told(this.#options.selection, places), content);
      }
    }
    return undefined;
  }

  /** Nothing more is told. */
  end(): void {
    this.#isOver = true;
    this.#changed.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await Promise.all(Array.from(this.#lines.values(), ({ line }) => line.end()));
  }

  #taken(standing: Standing<T>): SpaceEventContent<T> | undefined {
    const { line, at } = standing;
    standing.isInLine = false;
    const before = line.place;
    const content = line.take();
    if (line.place !== before) this.#places = this.#places.with(at, line.place);
    if (line.isReady) this.#queue(standing);
    else if (line.isOver) this.#drop(standing);
    return content;
  }

  #standing(name: SpaceName): Standing<T> {
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const at = this.#free.pop() ?? this.#lines.size;
    const feeds = { ...this.#options, broken: (error: unknown) => this.#break(error) };
    const line = new SpaceLine<T>(name, feeds, () => this.#queue(standing));
    const standing: Standing<T> = { line, at, isInLine: false };
    this.#lines.set(name, standing);
    return standing;
  }

  #drop(standing: Standing<T>): void {
    const { name } = standing.line;
    if (this.#lines.get(name) !== standing) return; // another one has its name already
    this.#lines.delete(name);
    this.#free.push(standing.at);
  }

  #queue(standing: Standing<T>): void {
    if (standing.isInLine) return;
    standing.isInLine = true;
    this.#ready.push(standing);
    this.#changed.resolve();
  }

  #break(error: unknown): void {
    this.#broken ??= { error };
    this.#changed.resolve();
  }

  async #change(): Promise<void> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
  }
}

/** What an event has besides its content. */
class Told {
  readonly #selection: string;
  readonly #places: Places;
  #cursor: string | undefined;

  constructor(selection: string, places: Places) {
    this.#selection = selection;
    this.#places = places;
  }

  get cursor(): string {
    this.#cursor ??= cursorText(this.#selection, this.#places);
    return this.#cursor;
  }
}
