import type { KindReference, KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";

/** Key of the object that an event is about. The object itself need not name its cluster. */
export interface Keyed {
  readonly key: ObjectKey;
  /** Whether the object existed before the handler was registered, so that it has low priority (isInInitialList). */
  readonly initial?: boolean;
}

/** Event handlers of a {@link Source}. */
export interface SourceHandlers<T> {
  /** Called for a new object, and for each existing one. */
  readonly added?: (object: T, event: Keyed) => void;
  /** Called for a changed object. @param before its previous state */
  readonly updated?: (object: T, before: T, event: Keyed) => void;
  /** Called for a deleted object. @param object its last known state */
  readonly deleted?: (object: T, event: Keyed) => void;
  /** Called for an object that is no longer visible but may still exist, because its cluster was disengaged. */
  readonly gone?: (object: T, event: Keyed) => void;
  /** Called for an event of the source itself. After an event of type `error` the source retries. */
  readonly lifecycle?: (event: { readonly type: string; readonly error?: unknown }) => void;
}

/** Options of {@link Source.on}. */
export interface SourceOptions {
  /**
   * Objects with `Keyed.initial` that the handlers need: all, those under deletion, or none. A source that has to decode each
   * object leaves out the others; any other source may deliver them. @default "all"
   */
  readonly existing?: "all" | "deleting" | "none";
}

/** Watched objects of a kind: one `Informer`, or several merged into one. */
export interface Source<T extends KubeObject = KubeObject> {
  /** Delivers the existing objects, then all events in order, until it is disposed. */
  on(handlers: SourceHandlers<T>, options?: SourceOptions): Disposable;
  /**
   * Delivers only keys: of the existing objects, then of added, changed and deleted ones. For a source that would have
   * to decode each object for an event. Such a source must not have `gone` events. @default none: callers use `on`
   */
  onKey?(changed: (event: Keyed) => void): Disposable;
  /**
   * Registers a callback for failures to read that nothing else handles, once for each reason. The source keeps retrying.
   * @default none: the source reports them by other means
   */
  onFailure?(failed: (error: Error) => void): Disposable;
  /** Resolves once the source has delivered every object of the initial list. */
  readonly synced: Promise<void>;
  /** Store with the current objects. */
  readonly store: SourceStore<T>;
}

/** Last known objects of a {@link Source}. */
export interface SourceStore<T> {
  /** Returns the object of a key, or `undefined`. */
  get(key: ObjectKey): T | undefined;
  /** Returns all objects, in no particular order. */
  list(): Iterable<T>;
}

/** Returns a key as text, unique for each key: `cluster|namespace/name`. No part may contain these separators. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}|${namespace}/${name}`;
}

/** Filter of owner references. */
export interface OwnerKeysOptions {
  /** Returns only the owner with `controller: true`. @default false, all owners of the kind */
  readonly controller?: boolean;
}

/**
 * Returns a key function for {@link related}: the keys of an object's owners, from its `ownerReferences`. An owner is
 * in the object's cluster and, if its kind is namespaced, in its namespace. The version of a reference is ignored.
 * controller-runtime's `EnqueueRequestForOwner`.
 */
export function ownerKeys(
  owner: Pick<KindReference, "group" | "kind" | "scope">,
  { controller = false }: OwnerKeysOptions = {},
): (object: KubeObject, key: ObjectKey) => ObjectKey[] {
  return (object, { cluster, namespace }) => {
    const references = object.metadata.ownerReferences ?? [];
    return references
      .filter(({ apiVersion, kind }) => kind === owner.kind && groupOf(apiVersion) === owner.group)
      .filter((reference) => !controller || reference.controller === true)
      .map(({ name }) => ({ cluster, namespace: owner.scope === "Namespaced" ? namespace : "", name }));
  };
}

function groupOf(apiVersion: string): string {
  const at = apiVersion.indexOf("/");
  return at === -1 ? "" : apiVersion.slice(0, at);
}
