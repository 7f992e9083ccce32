import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "@virtual-workspaces/framework";

/** A kind that is served in a logical cluster. */
export interface ContentKind {
  readonly group: string;
  /** Its plural. */
  readonly resource: string;
  /** Whether its objects are in namespaces: then they go with these. */
  readonly namespaced: boolean;
  /** Whether it comes of a binding: then its objects go with that. */
  readonly bound: boolean;
  /** Whether it has the verb `delete`. */
  readonly deletable: boolean;
}

/** What is in a logical cluster that is being deleted. The kernel knows, since it serves it. */
export interface Content {
  /** The kinds that are served there, in any order. @throws Error when they cannot be found out */
  kinds(): Awaitable<readonly ContentKind[]>;
  /**
   * Deletes all objects of a kind, as a client's `deletecollection` with background propagation would: those that finalizers
   * hold stay, marked. Harmless when done again.
   */
  deleteAll(kind: ContentKind, signal: AbortSignal): Promise<void>;
  /** The objects of a kind that are there now, as the store has them. */
  remaining(kind: ContentKind): Awaitable<readonly Pick<KubeObject, "metadata">[]>;
}

/** What is in a logical cluster. */
export type ContentOf = (cluster: string) => Content;

/** Where it is told that something went. */
export interface ContentChanges {
  /** @param listener told of logical clusters out of which something went that was being deleted, or may have; must not throw */
  onGone(listener: (cluster: string) => void): Disposable;
}
