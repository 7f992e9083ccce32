import type { KindReference } from "@virtual-workspaces/apimachinery";
import { endable } from "@virtual-workspaces/client";
import type { SpaceEngager } from "../engagements.ts";
import type { SpaceName } from "../space-name.ts";
import { placesIn, selectionOf } from "./cursor.ts";
import type { SpaceEvent, SpaceWatchOptions } from "./events.ts";
import type { FeedOptions } from "./space-feed.ts";
import { SpaceStream } from "./space-stream.ts";

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
