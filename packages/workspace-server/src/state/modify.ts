import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  apiVersionOf,
  CLUSTER_ANNOTATION,
  FOREGROUND_FINALIZER,
  formatTime,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  ORPHAN_FINALIZER,
} from "@virtual-workspaces/apimachinery";
import type { PropagationPolicy } from "@virtual-workspaces/apimachinery/requests";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import type { PersistentCollection } from "@virtual-workspaces/store";
import { scopeOf } from "./informers/key-index.ts";

/** Writable objects of a kind. */
export type Writable<T extends object> = Pick<
  PersistentCollection<T>,
  "resource" | "get" | "create" | "update" | "delete"
>;

/** New object: its content, and metadata that the server does not set. */
export type Draft<T extends object> = T & {
  readonly metadata?: Pick<ObjectMeta, "annotations" | "finalizers" | "labels" | "ownerReferences">;
};

/**
 * Changes an object as a controller: reads the stored object and writes the result of `change`, with retries on conflicts.
 * Admission is skipped. An object under deletion goes with its last finalizer. If `change` returns an unchanged object or
 * nothing, nothing is written.
 *
 * @param change returns a new object and leaves the given one unchanged, or changes the given one and returns it, which
 * costs a second parse
 * @returns the resulting object; `undefined` when it does not exist or is gone
 */
export async function modify<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  change: (object: ObjectOf<T>) => ObjectOf<T> | undefined,
): Promise<ObjectOf<T> | undefined> {
  for (;;) {
    const encoded = await collection.get(scopeOf(key), key);
    if (encoded === undefined) return undefined;
    const object = decodeObject(encoded) as ObjectOf<T>;
    const next = change(object);
    // Changed in place: parsing again takes half the time of a clone.
    const before = next === object ? (decodeObject(encoded) as ObjectOf<T>) : object;
    if (next === undefined || isDeepStrictEqual(next, before)) return before;
    try {
      return await replace(collection, key, { before, next });
    } catch (error) {
      if (isApiError(error) && error.code === 404) return undefined;
      if (!isApiError(error) || error.code !== 409) throw error;
    }
  }
}

/** Creates an object as a controller. @returns it, or the existing one */
export async function ensure<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  content: () => Draft<T>,
): Promise<Ensured<T>> {
  const there = await read(collection, key);
  return there === undefined ? ensureNew(collection, key, content) : { object: there, created: false };
}

/** Outcome of {@link ensure}. */
export interface Ensured<T extends object> {
  readonly object: ObjectOf<T>;
  readonly created: boolean;
}

/** Same as {@link ensure} for an object that the informer does not have: it is created without a read. */
export async function ensureNew<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  content: () => Draft<T>,
): Promise<Ensured<T>> {
  for (;;) {
    try {
      return { object: await create(collection, key, content()), created: true };
    } catch (error) {
      if (!isApiError(error) || error.reason !== "AlreadyExists") throw error;
    }
    const there = await read(collection, key);
    if (there !== undefined) return { object: there, created: false };
  }
}

/** Creates an object that does not exist, as a controller. @throws ApiError `AlreadyExists` */
export async function create<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  content: Draft<T>,
): Promise<ObjectOf<T>> {
  const object = stamped(collection.resource, key, content);
  const { resourceVersion } = await collection.create(scopeOf(key), object);
  // Not parsed again, as in `replace`.
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/**
 * Deletes an object as a controller: it stays, marked, while it has finalizers.
 *
 * @param uid deletes only an object with this uid, not a later one of that name
 * @returns whether it existed
 */
export async function remove<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  uid?: string,
): Promise<boolean> {
  let found = false;
  await modify(collection, key, (object) => {
    found = uid === undefined || object.metadata.uid === uid;
    return found && object.metadata.deletionTimestamp === undefined ? marked(collection.resource, object) : undefined;
  });
  return found;
}

/**
 * Deletes an object like a client with a `propagationPolicy`; for an object under deletion it changes the policy.
 *
 * @param judged whether the stored object is still the one to delete
 * @returns the resulting object; `undefined` when it is gone
 */
export async function removeWith<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  {
    policy,
    judged = () => true,
  }: { readonly policy: PropagationPolicy; readonly judged?: (object: ObjectOf<T>) => boolean },
): Promise<ObjectOf<T> | undefined> {
  return modify(collection, key, (object) => {
    if (!judged(object)) return undefined;
    const { finalizers = [] } = object.metadata;
    const wanted = FINALIZER_OF[policy];
    const others = finalizers.filter(
      (finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_FINALIZER,
    );
    const isSet = finalizers.length - others.length === (wanted === undefined ? 0 : 1);
    if (!isSet || (wanted !== undefined && !finalizers.includes(wanted)))
      object.metadata.finalizers = wanted === undefined ? others : [...others, wanted];
    return object.metadata.deletionTimestamp === undefined ? marked(collection.resource, object) : object;
  });
}

const FINALIZER_OF: Readonly<Record<PropagationPolicy, string | undefined>> = {
  Background: undefined,
  Foreground: FOREGROUND_FINALIZER,
  Orphan: ORPHAN_FINALIZER,
};

function marked<T extends object>({ strategy }: ResourceDefinition, object: ObjectOf<T>): ObjectOf<T> {
  object.metadata.deletionTimestamp = formatTime(new Date());
  object.metadata.deletionGracePeriodSeconds = 0;
  if (strategy?.isHeld?.(object) === true) strategy.marked?.(object);
  return object;
}

/** Returns the stored object, which may be newer than the informer's. */
export async function read<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
): Promise<ObjectOf<T> | undefined> {
  const encoded = await collection.get(scopeOf(key), key);
  return encoded === undefined ? undefined : (decodeObject(encoded) as ObjectOf<T>);
}

/**
 * Writes an object that was read before, without reading it again. One under deletion goes with its last finalizer.
 *
 * @returns the resulting object; `undefined` when it is gone
 * @throws ApiError 409 when it has changed since, 404 when it is gone
 */
export async function replace<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  { before, next }: { readonly before: ObjectOf<T>; readonly next: ObjectOf<T> },
): Promise<ObjectOf<T> | undefined> {
  const { deletionTimestamp, finalizers = [] } = next.metadata;
  const { resourceVersion } = before.metadata;
  const isHeld = finalizers.length > 0 || collection.resource.strategy?.isHeld?.(next) === true;
  if (deletionTimestamp !== undefined && !isHeld) {
    const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } };
    await collection.delete(scopeOf(key), key, preconditions);
    return undefined;
  }
  const metadata = { ...next.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
  if (finalizers.length === 0) delete metadata.finalizers;
  const { generation } = before.metadata;
  if (generation !== undefined && isRespecified(before, next)) metadata.generation = generation + 1;
  const written: Encoded = await collection.update(scopeOf(key), { ...next, metadata });
  // Not parsed again: few callers read the result, and it differs in the version alone.
  return { ...next, metadata: { ...metadata, resourceVersion: written.resourceVersion } };
}

/** Whether the generation increases: not for changes of metadata or status. */
function isRespecified(before: KubeObject, next: KubeObject): boolean {
  const content = ({ metadata: _m, status: _s, ...rest }: KubeObject): object => rest;
  const marked = before.metadata.deletionTimestamp === undefined && next.metadata.deletionTimestamp !== undefined;
  return marked || !isDeepStrictEqual(content(before), content(next));
}

function stamped<T extends object>(
  resource: ResourceDefinition,
  { cluster, namespace, name }: ObjectKey,
  { metadata, ...content }: Draft<T>,
): ObjectOf<T> {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    ...content,
    metadata: {
      ...metadata,
      annotations: { ...metadata?.annotations, [CLUSTER_ANNOTATION]: cluster },
      name,
      ...(namespace === "" ? {} : { namespace }),
      uid: randomUUID(),
      creationTimestamp: formatTime(new Date()),
      ...(resource.strategy?.generation !== false && { generation: 1 }),
    },
  } as unknown as ObjectOf<T>;
}
