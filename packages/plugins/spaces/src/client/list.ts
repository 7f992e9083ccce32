import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { SelectOptions } from "@virtual-workspaces/client";
import type { EngagedSpace } from "./engaged-space.ts";
import type { SpaceName } from "./space-name.ts";

/** What is listed in each Space. */
export interface SpaceListOptions extends SelectOptions {
  /** @default all */
  readonly namespace?: string;
}

/** A Space that could not be read. Nothing is known of what is in it: least of all that it is not there. */
export interface FailedSpace {
  readonly space: SpaceName;
  readonly error: unknown;
}

/** The objects of a kind in all Spaces. */
export interface SpaceList<T> {
  /** By the Space's name. Versions are those of the Space: they are not to be compared across. */
  readonly items: readonly { readonly space: SpaceName; readonly object: ObjectOf<T> }[];
  readonly failed: readonly FailedSpace[];
}

interface Asked extends SpaceListOptions {
  readonly spaces: readonly EngagedSpace[];
  readonly notReady: readonly FailedSpace[];
}

/** How many Spaces are asked at a time. */
const AT_A_TIME = 16;

export async function listAcross<T extends object>(
  kind: KindReference<T>,
  { spaces, notReady, namespace, ...select }: Asked,
): Promise<SpaceList<T>> {
  const failed = [...notReady];
  const found = new Map<SpaceName, readonly ObjectOf<T>[]>();
  const waiting = spaces.values();
  const work = async (): Promise<void> => {
    for (const { name, client } of waiting) {
      const all = client.resource(kind);
      try {
        const { items } = await (namespace === undefined ? all : all.in(namespace)).all(select);
        found.set(name, items);
      } catch (error) {
        select.signal?.throwIfAborted();
        failed.push({ space: name, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  const items = spaces.flatMap(({ name: space }) => (found.get(space) ?? []).map((object) => ({ space, object })));
  return { items, failed: failed.sort((a, b) => (a.space < b.space ? -1 : 1)) };
}
