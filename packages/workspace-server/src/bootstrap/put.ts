import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { ShardContext } from "../state/context.ts";
import { type Draft, ensure, modify } from "../state/modify.ts";
import { CREATE_ONLY_ANNOTATION } from "./root-objects.ts";

/** An object that is there from the start. */
export interface Put<T extends object> {
  readonly key: ObjectKey;
  readonly content: Draft<T>;
}

/** Makes an object as it is shipped, or puts it back so: what users have added to its metadata stays, and its status. */
export async function put<T extends object>(
  { objects }: Pick<ShardContext, "objects">,
  kind: TypedDefinition<T>,
  { key, content }: Put<T>,
): Promise<void> {
  const collection = objects.of(kind);
  const { object, created } = await ensure(collection, key, () => content);
  if (created || object.metadata.annotations?.[CREATE_ONLY_ANNOTATION] !== undefined) return;
  const { metadata = {}, status: _status, ...shipped } = content as Draft<T> & { readonly status?: unknown };
  await modify(collection, key, (kept) => ({
    ...kept,
    ...shipped,
    metadata: {
      ...kept.metadata,
      labels: { ...kept.metadata.labels, ...metadata.labels },
      annotations: { ...kept.metadata.annotations, ...metadata.annotations },
    },
  }));
}

/** Where something of a whole logical cluster is. */
export function placeOf(cluster: string, name: string): ObjectKey {
  return { cluster, namespace: "", name };
}
