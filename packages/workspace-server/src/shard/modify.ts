import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  formatTime,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
} from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded, groupResourceOf, type Scope } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";

/** What is written to, of a kind. */
export type Written<T extends object> = Pick<PersistentCollection<T>, "resource" | "get" | "update" | "delete">;

/**
 * Changes an object as a controller does: reads it as it stands now, and writes what `change` makes of it, again if others
 * were faster. Admission is not asked, since controllers are the server's own. An object that is being deleted goes with its last
 * finalizer; one that `change` returns unchanged, or gives nothing for, is not written.
 *
 * @returns the object as it stands then; `undefined` when there is none, or it went
 */
export async function modify<T extends object>(
  collection: Written<T>,
  key: ObjectKey,
  change: (object: ObjectOf<T>) => ObjectOf<T> | undefined,
): Promise<ObjectOf<T> | undefined> {
  for (;;) {
    const before = await read(collection, key);
    if (before === undefined) return undefined;
    const next = change(structuredClone(before));
    if (next === undefined || isDeepStrictEqual(next, before)) return before;
    try {
      return await replace(collection, key, { before, next });
    } catch (error) {
      if (isApiError(error) && error.code === 404) return undefined;
      if (!isApiError(error) || error.code !== 409) throw error;
    }
  }
}

/** Deletes an object as a controller does: it is marked while finalizers hold it. @returns whether it was there */
export async function remove<T extends object>(
  collection: Written<T>,
  key: ObjectKey,
  { uid }: { readonly uid?: string | undefined } = {},
): Promise<boolean> {
  let found = false;
  const marked = await modify(collection, key, (object) => {
    if (uid !== undefined && object.metadata.uid !== uid) return undefined;
    found = true;
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    object.metadata.deletionTimestamp = formatTime(new Date());
    object.metadata.deletionGracePeriodSeconds = 0;
    return object;
  });
  return found && (marked !== undefined || found);
}

async function read<T extends object>(collection: Written<T>, key: ObjectKey): Promise<ObjectOf<T> | undefined> {
  const encoded = await collection.get(scopeOf(key), key);
  return encoded === undefined ? undefined : (decodeObject(encoded) as ObjectOf<T>);
}

async function replace<T extends object>(
  collection: Written<T>,
  key: ObjectKey,
  { before, next }: { readonly before: ObjectOf<T>; readonly next: ObjectOf<T> },
): Promise<ObjectOf<T> | undefined> {
  const { deletionTimestamp, finalizers = [] } = next.metadata;
  const { resourceVersion } = before.metadata;
  if (deletionTimestamp !== undefined && finalizers.length === 0) {
    const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } };
    await collection.delete(scopeOf(key), key, preconditions);
    return undefined;
  }
  const metadata = { ...next.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
  if (finalizers.length === 0) delete metadata.finalizers;
  if (isRespecified(before, next)) metadata.generation = (before.metadata.generation ?? 0) + 1;
  const written: Encoded = await collection.update(scopeOf(key), { ...next, metadata });
  return decodeObject(written) as ObjectOf<T>;
}

/** A change of metadata or status is no new generation. */
function isRespecified(before: KubeObject, next: KubeObject): boolean {
  const content = ({ metadata: _m, status: _s, ...rest }: KubeObject): object => rest;
  const marked = before.metadata.deletionTimestamp === undefined && next.metadata.deletionTimestamp !== undefined;
  return marked || !isDeepStrictEqual(content(before), content(next));
}

/** The parts of a scope that collections look at. */
export function scopeOf({ cluster, namespace }: Pick<ObjectKey, "cluster" | "namespace">): Scope {
  return { cluster, namespace } as Scope;
}

/** What a controller says when something that it needs is not there: it is told of it later and tries again. */
export function missing(collection: Pick<Written<object>, "resource">, name: string): ApiError {
  return ApiError.notFound(groupResourceOf(collection.resource), name);
}
