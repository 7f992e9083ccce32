import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";

/** What happens to the objects of a {@link Source}. */
export interface SourceHandlers<T> {
  /** An object is there: those that are there already are told too. */
  readonly added?: (object: T) => void;
  readonly updated?: (object: T, before: T) => void;
  /** An object was deleted. @param object as it was last seen */
  readonly deleted?: (object: T) => void;
  /** An object can no longer be seen here, which does not mean that it was deleted: its cluster was disengaged. */
  readonly gone?: (object: T) => void;
}

/** Objects of a kind that are followed: an informer, or several as one. */
export interface Source<T extends KubeObject = KubeObject> {
  /** Tells of what is there, and then of what happens, in order, until it is disposed of. */
  subscribe(handlers: SourceHandlers<T>): Disposable;
  /** Resolves once everything that was there at the beginning has been told. */
  readonly synced: Promise<void>;
  /** What is there. */
  readonly store: SourceStore<T>;
  /** @default what the annotation `kcp.io/cluster`, the namespace and the name say */
  keyOf?(object: KubeObject): ObjectKey;
}

/** The objects of a {@link Source} as they were last seen. */
export interface SourceStore<T> {
  get(key: ObjectKey): T | undefined;
  list(): Iterable<T>;
}
