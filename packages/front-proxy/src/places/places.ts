import type { Authenticator } from "@virtual-workspaces/framework";
import type { MetricFamily } from "@virtual-workspaces/framework/server";
import type { FoundCluster, FoundMount, Lookup, UnavailableWorkspace } from "@virtual-workspaces/kcp/path-index";

/** A value, or a promise of it. Known places are returned at once. */
export type Awaitable<T> = T | Promise<T>;

/** Where a workspace path leads: what requests need of a lookup in the index. */
export type Place =
  | Pick<FoundCluster, "kind" | "cluster" | "shard" | "type">
  | Pick<FoundMount, "kind" | "url" | "workspace" | "rest">
  | Pick<UnavailableWorkspace, "kind" | "reason">
  | AbsentPlace;

/** Path that leads nowhere; `unread`: it may exist, because the workspaces of some shards have not been read yet. */
export interface AbsentPlace {
  readonly kind: "unknown" | "pending" | "gone" | "unread";
  readonly reason: string;
}

/** Finds the shards of workspace paths: in an index of this process, or of another one. */
export interface Places extends AsyncDisposable {
  /** Resolves after the first attempt to read all shards. Rejects if closed before. */
  readonly started: Promise<void>;
  /** Readiness check. @throws Error before the shards have been read */
  check(): void;
  lookup(path: string): Awaitable<Place>;
  /** Returns the shard of a logical cluster. */
  shardOf(cluster: string): Awaitable<string | undefined>;
  /** Returns the URL of a shard. */
  shardURL(shard: string): string | undefined;
  /** Whether an origin belongs to a shard or, for users, to the whole system. */
  isOwn(origin: string): boolean;
  /** Returns the authenticators of users of a workspace, by its type. */
  logins(path: string): readonly Authenticator[];
  /** Returns the metrics of the index in this process. */
  families(): readonly MetricFamily[];
}

/** Continues with a value: at once, or when its promise resolves. */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

const UNREAD: AbsentPlace = {
  kind: "unread",
  reason: "the workspaces of some shards have not been read yet: try again",
};

/** Returns the place of a lookup. @param isWhole whether all shards have been read */
export function placeOf(found: Lookup, isWhole: () => boolean): Place {
  const isThere = found.kind === "cluster" || found.kind === "mount" || found.kind === "unavailable";
  return isThere || isWhole() ? found : UNREAD;
}
