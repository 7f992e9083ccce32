import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery/selectors";
import type { Client, Clock, ReconcileFailure, RelatedSource } from "@virtual-workspaces/client";
import type { Shard } from "../kinds/shard.ts";

/** Entry of a list of URLs in kcp's kinds (`core.kcp.io` `Endpoint`). */
export interface PublishedEndpoint {
  /** URL without `/clusters`: {@link viewURL}. */
  readonly url: string;
  /**
   * Shards that use this URL when the view stores an export's resource (`storage.virtual`): all, or by labels.
   * @default the shard whose URL is a prefix of this one
   */
  readonly shards?: { readonly matchAll?: boolean; readonly selector?: LabelSelectorObject };
}

/** Options of {@link publishURLs}. */
export interface PublishURLsOptions<T extends object> {
  /**
   * Client that reads objects and Shards and writes statuses. It reaches the logical clusters of all shards by name, as through a
   * kcp front proxy. Needs `get`, `list` and `watch` of the kind, `patch` of its `status` (`update` for a `whole` list), and the
   * read verbs on `shards` in `root` if {@link shards} is set. The publisher does not close it.
   */
  readonly client: Client;
  /** Kind of the objects with the list in their status. */
  readonly resource: KindReference<T>;
  /** Logical cluster of the objects, by name or path. `*` for all of the client's shard; "" for a server without logical clusters. */
  readonly cluster: string;
  /** Name of a single object. @default all objects */
  readonly name?: string;
  /**
   * Shards in `root` that {@link urls} receives: one name where each shard publishes for itself, `*` for one publisher for all
   * shards.
   * @default none: the URLs do not depend on shards
   */
  readonly shards?: string;
  /** Field manager that owns the entries. A second publisher needs another one. @default the name in {@link shards} */
  readonly manager?: string;
  /**
   * Returns the URLs of an object, in any order. An empty list removes the published URLs; `undefined` leaves them unchanged, for
   * example on a shard that is about to lose its last binding. Called when the object, a Shard or one of {@link sources} changes.
   * An exception changes nothing and is retried. Security: every user who may read the object sees the URLs.
   *
   * @param shards the selected Shards, by name; empty before a Shard exists
   */
  readonly urls: (object: ObjectOf<T>, shards: readonly Shard[]) => readonly (string | PublishedEndpoint)[] | undefined;
  /** Field below `status`. @default "endpoints" */
  readonly field?: string;
  /**
   * Kind of list. `keyed`: its key is `url` (`x-kubernetes-list-type: map`), and several publishers own entries by server-side
   * apply. `whole`: it is one value of a single publisher, such as `virtualWorkspaces` of an APIExport.
   *
   * @default "keyed"
   */
  readonly list?: "keyed" | "whole";
  /**
   * Condition for a `whole` list, in kcp's kinds `VirtualWorkspaceURLsReady`: `True`, or `False` with the reason
   * `ErrorGeneratingURLs` and the message of the exception of {@link urls}.
   * @default none
   */
  readonly condition?: string;
  /** Further objects that the URLs depend on, such as bindings. Create them with `related()`. */
  readonly sources?: readonly RelatedSource[];
  /**
   * Receives every failure with the delay until the retry, also when another client removes entries repeatedly. Conflicts are
   * retried without a report.
   */
  readonly onError: (failure: ReconcileFailure) => void;
  /** Aborting it disposes the publisher. */
  readonly signal?: AbortSignal;
  /** Time source. @default the machine's clock */
  readonly clock?: Clock;
}
