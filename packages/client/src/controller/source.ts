import type { KindReference, KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";

/** Which object something is told of: of its own it need not say its cluster. */
export interface Keyed {
  readonly key: ObjectKey;
  /** Whether it has been there all along, and is told of because somebody comes to know of it: it can wait (isInInitialList). */
  readonly initial?: boolean;
}

/** What happens to the objects of a {@link Source}. */
export interface SourceHandlers<T> {
  /** An object is there: those that are there already are told too. */
  readonly added?: (object: T, event: Keyed) => void;
  /** An object has changed. @param before as it was */
  readonly updated?: (object: T, before: T, event: Keyed) => void;
  /** An object was deleted. @param object as it was last seen */
  readonly deleted?: (object: T, event: Keyed) => void;
  /** An object can no longer be seen here, which does not mean that it was deleted: its cluster was disengaged. */
  readonly gone?: (object: T, event: Keyed) => void;
  /** Something happened to the source itself. One of type `error` failed at something, and tries again. */
  readonly lifecycle?: (event: { readonly type: string; readonly error?: unknown }) => void;
}

/** Objects of a kind that are followed: an `Informer`, or several as one. */
export interface Source<T extends KubeObject = KubeObject> {
  /** Tells of what is there, and then of what happens, in order, until it is disposed of. */
  on(handlers: SourceHandlers<T>): Disposable;
  /**
   * Tells of the keys alone of what is there, and of what is added, changed or deleted then: for a source that would have to
   * make objects of bytes to tell of them. Objects that are `gone` it must not have. @default none: whoever follows uses `on`
   */
  onKey?(changed: (event: Keyed) => void): Disposable;
  /** Resolves once everything that was there at the beginning has been told. */
  readonly synced: Promise<void>;
  /** What is there. */
  readonly store: SourceStore<T>;
}

/** The objects of a {@link Source} as they were last seen. */
export interface SourceStore<T> {
  /** The object of a key, `undefined` when there is none. */
  get(key: ObjectKey): T | undefined;
  /** All of them, in no order. */
  list(): Iterable<T>;
}

/** A key as one text, the same for equal keys only: `cluster|namespace/name`. None of the parts can have these characters. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}|${namespace}/${name}`;
}

/** Which owners count. */
export interface OwnerKeysOptions {
  /** Only the one that says `controller: true`. @default false, all of the kind */
  readonly controller?: boolean;
}

/**
 * For a source of related objects: the keys of those that own an object, as its `ownerReferences` have them, in its
 * cluster and, for a namespaced kind, its namespace. controller-runtime's `EnqueueRequestForOwner`. The version of a
 * reference does not matter.
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
