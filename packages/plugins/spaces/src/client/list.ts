import { ApiError, type KindReference, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { ResourceList, SelectOptions } from "@virtual-workspaces/client";
import type { Engagement } from "./engaged-space.ts";
import { type Asked, Page } from "./page.ts";
import type { Slots } from "./slots.ts";
import type { SpaceName } from "./space-name.ts";
import { cursorText, type Place, placeOf, selectionOf } from "./watch/cursor.ts";

/** What is read in each Space. */
export interface SpaceSelectOptions extends SelectOptions {
  /** @default all */
  readonly namespace?: string;
}

/** What is listed in each Space, and how much of it at a time. */
export interface SpaceListOptions extends SpaceSelectOptions {
  /** The most objects in one answer, over all Spaces, in order of their names. @default all */
  readonly limit?: number;
  /** What the page before gave. */
  readonly continue?: string;
}

/** A Space that could not be read, or not to its end. Nothing is known of what is in it: least of all that it is not there. */
export interface FailedSpace {
  readonly space: SpaceName;
  readonly error: unknown;
}

/** The objects of a kind in all Spaces, or a page of them. */
export interface SpaceList<T> {
  /** By the Space's name. Versions are those of the Space: they are not to be compared across. */
  readonly items: readonly { readonly space: SpaceName; readonly object: ObjectOf<T> }[];
  readonly failed: readonly FailedSpace[];
  /** Where a watch of the same goes on from: after this page, and all before it. What could not be read is told by it from the beginning. */
  readonly cursor: string;
  /** Asks for the next page; none: this was the last. */
  readonly continue?: string;
}

/** A Space, or why it cannot be read. */
export type Listed = Engagement | FailedSpace;

/** What a list needs of the Spaces that it is of. */
export interface ListedSpaces {
  /** In order of their names. */
  readonly spaces: readonly Listed[];
  readonly slots: Slots;
}

export async function listAcross<T extends object>(
  kind: KindReference<T>,
  { limit, continue: token, ...options }: SpaceListOptions,
  { spaces, slots }: ListedSpaces,
): Promise<SpaceList<T>> {
  const selection = selectionOf(kind, options);
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw ApiError.badRequest(`limit: give a whole number above 0, or leave it out; it is ${limit}`);
  if (limit === undefined && token === undefined) return whole({ kind, options, selection }, { spaces, slots });
  const page = new Page({ kind, options, selection }, { spaces, limit, token });
  return page.read();
}

async function whole<T extends object>(asked: Asked<T>, { spaces, slots }: ListedSpaces): Promise<SpaceList<T>> {
  const { kind, options } = asked;
  const { namespace, ...select } = options;
  const answers = spaces.map(async (space): Promise<ResourceList<T> | FailedSpace> => {
    if ("error" in space) return space;
    const all = space.client.resource(kind);
    using _ = await slots.take(select.signal);
    try {
      return await (namespace === undefined ? all : all.in(namespace)).all({ ...select, whenExpired: "relist" });
    } catch (error) {
      select.signal?.throwIfAborted();
      return { space: space.name, error };
    }
  });
  const items: SpaceList<T>["items"][number][] = [];
  const failed: FailedSpace[] = [];
  const places: Place[] = [];
  for (const [at, answer] of (await Promise.all(answers)).entries()) {
    const space = spaces[at];
    if ("error" in answer) failed.push(answer);
    else if (space !== undefined && !("error" in space)) {
      for (const object of answer.items) items.push({ space: space.name, object });
      places.push(placeOf(space, answer.metadata.resourceVersion ?? ""));
    }
  }
  return { items, failed, cursor: cursorText(asked.selection, places) };
}
