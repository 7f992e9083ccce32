import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery/selectors";
import type { Client, Clock, ReconcileFailure, RelatedSource } from "@virtual-workspaces/client";
import type { Shard } from "../kinds/shard.ts";

/** An entry of a list of URLs, as kcp's kinds have it (`core.kcp.io` `Endpoint`). */
export interface PublishedEndpoint {
  /** Before `/clusters`: {@link viewURL}. */
  readonly url: string;
  /**
   * The shards that ask at this URL, where a resource of an export is kept by the view (`storage.virtual`): all, or those with
   * these labels. @default the shard whose own URL this one begins with
   */
  readonly shards?: { readonly matchAll?: boolean; readonly selector?: LabelSelectorObject };
}

/** What is published where: {@link publishURLs}. */
export interface PublishURLsOptions<T extends object> {
  /**
   * By which objects and Shards are read, and statuses written: it reaches the logical clusters of all shards by name, as a kcp's front
   * proxy and a workspace server do. Needs `get`, `list` and `watch` of the kind, `patch` of its `status` (`update` for a list
   * that is `whole`), and of `shards` in `root` where these are followed. Not closed.
   */
  readonly client: Client;
  /** The kind of the objects whose status has the list. */
  readonly resource: KindReference<T>;
  /** The logical cluster in which they are, by name or path; `*` for all of the shard that the client asks; "" for a server without. */
  readonly cluster: string;
  /** One object alone. @default all */
  readonly name?: string;
  /**
   * Which Shards in `root` are given to {@link urls}: that of one name, where each shard publishes for itself; `*`, where one
   * publisher does so for all. @default none: the URLs do not depend on it
   */
  readonly shards?: string;
  /**
   * The field manager that entries are owned by: whoever publishes beside us needs another. @default the name in {@link shards}
   */
  readonly manager?: string;
  /**
   * The URLs of an object, in any order; none takes back what was published; `undefined` leaves it as it is, as for a shard that is
   * about to be rid of its last binding. Called whenever the object, a Shard or one of {@link sources} changes. What it throws is
   * reported and tried again, and changes nothing. Everybody who may read the object learns them.
   *
   * @param shards those that are followed, by name; empty before a Shard is there
   */
  readonly urls: (object: ObjectOf<T>, shards: readonly Shard[]) => readonly (string | PublishedEndpoint)[] | undefined;
  /** Below `status`. @default "endpoints" */
  readonly field?: string;
  /**
   * How it is written. `keyed`: the list has the key `url` (`x-kubernetes-list-type: map`), and several publishers have entries in it,
   * each its own, by server-side apply. `whole`: it is one value, as `virtualWorkspaces` of an APIExport, and this publisher's alone.
   *
   * @default "keyed"
   */
  readonly list?: "keyed" | "whole";
  /**
   * The condition that says of a `whole` list whether it is right: `True`, or `False` for the reason `ErrorGeneratingURLs` with what
   * {@link urls} has thrown. kcp's kinds call it `VirtualWorkspaceURLsReady`. @default none
   */
  readonly condition?: string;
  /** What else decides, such as bindings: made by `related()`. */
  readonly sources?: readonly RelatedSource[];
  /**
   * Told of every failure, also when somebody else takes entries away again and again, with the time until it is tried again: what
   * lasts has a long one. Conflicts are tried again without a word.
   */
  readonly onError: (failure: ReconcileFailure) => void;
  /** Ends it, as disposing of it does. */
  readonly signal?: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
}
