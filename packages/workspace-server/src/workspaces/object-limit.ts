import { ApiError, type ObjectKey, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { type LogicalCluster, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { MAX_TOTAL_OBJECTS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ObjectFeed } from "@virtual-workspaces/store";
import type { ShardState } from "../state/shard-state.ts";

/** Kinds without a limit: workspaces need them for initialization, and events explain why others fail. */
const EXEMPT: ReadonlySet<string> = new Set(["logicalclusters.core.kcp.io", "events.", "events.events.k8s.io"]);

/** Sources of the limit. */
export interface ObjectLimitOptions {
  readonly counts: ObjectCounts;
  readonly state: Pick<ShardState, "logicalCluster">;
  /** Default limit of logical clusters, except `root` and the system's; 0 is unlimited. */
  readonly byDefault: number;
}

/**
 * Limits the number of objects in each logical cluster (kcp's `core.kcp.io/LogicalClusterObjectCountLimit`) to the annotation
 * `core.kcp.io/max-total-objects` of the LogicalCluster, or the default. It applies once the LogicalCluster is Ready and its
 * objects are counted.
 *
 * Rejects with 403, with the count and the limit in the message.
 */
export function objectLimit(options: ObjectLimitOptions): Admit {
  return (request) => {
    const { operation, subresource, definition, params } = request;
    if (operation !== "CREATE" || subresource !== "" || EXEMPT.has(`${definition.plural}.${definition.group}`)) return;
    const cluster = params["cluster"] ?? "";
    const limit = limitOf(options.state.logicalCluster(cluster), { ...options, cluster });
    if (limit > 0) request.validate(({ metadata }) => admitOne(request, metadata, { ...options, cluster, limit }));
  };
}

interface Limited extends Pick<ObjectLimitOptions, "counts"> {
  readonly cluster: string;
  readonly limit: number;
}

function admitOne(
  { definition, dryRun }: AdmitRequest,
  { namespace = "", name = "" }: ObjectMeta,
  { counts, cluster, limit }: Limited,
): void {
  if (definition.plural === "clusterrolebindings" && name === "workspace-admin") return;
  const count = counts.in(cluster);
  if (count !== undefined && count >= limit)
    throw ApiError.forbidden({
      resource: groupResourceOf(definition),
      name,
      message: `logical cluster ${JSON.stringify(cluster)} has reached its total object count limit (${count}/${limit} objects); delete objects to free up capacity`,
    });
  if (!dryRun) counts.expect({ cluster, namespace, name });
}

function limitOf(
  found: LogicalCluster | undefined,
  { byDefault, cluster }: Pick<ObjectLimitOptions, "byDefault"> & Pick<Limited, "cluster">,
): number {
  if (found?.status?.phase !== "Ready") return 0;
  const said = found.metadata.annotations?.[MAX_TOTAL_OBJECTS_ANNOTATION];
  if (said !== undefined && /^[+-]?\d{1,15}$/.test(said)) return Number(said);
  return cluster === ROOT_CLUSTER || cluster.startsWith("system:") ? 0 : byDefault;
}

/** Time for which an admitted but unseen object counts, in milliseconds: its write may have failed. */
const COMES_WITHIN = 2_000;

/** Kinds that do not count, so that a full workspace can be investigated: events expire. */
const UNCOUNTED: ReadonlySet<string> = new Set(["/events", "events.k8s.io/events"]);

/**
 * Number of objects in each logical cluster of a shard, except events, from the shard's single watch. Admitted objects count
 * before they are seen, so that concurrent requests cannot exceed a limit.
 */
export class ObjectCounts implements Disposable {
  readonly #feed: ObjectFeed;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  /** Deadlines by `<namespace>/<name>`, for each logical cluster. */
  readonly #coming = new Map<string, Map<string, number>>();
  readonly #following: Disposable;

  constructor(feed: ObjectFeed, now: () => number = () => performance.now()) {
    this.#feed = feed;
    this.#now = now;
    this.#following = feed.on({
      began: () => this.#counts.clear(),
      set: ({ space, key, isNew }) => {
        if (!UNCOUNTED.has(space) && (isNew || !feed.isSynced)) this.#add(key, 1);
      },
      deleted: ({ space, key }) => {
        if (!UNCOUNTED.has(space)) this.#add(key, -1);
      },
    });
  }

  /** Returns the number; `undefined` during the initial count. */
  in(cluster: string): number | undefined {
    if (!this.#feed.isSynced) return undefined;
    return (this.#counts.get(cluster) ?? 0) + this.#comingTo(cluster);
  }

  /** Counts an object that is about to appear, for a limited time. */
  expect({ cluster, namespace, name }: ObjectKey): void {
    const coming = this.#coming.get(cluster) ?? new Map<string, number>();
    coming.set(`${namespace}/${name}`, this.#now() + COMES_WITHIN);
    this.#coming.set(cluster, coming);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  #add({ cluster, namespace, name }: ObjectKey, by: 1 | -1): void {
    const count = (this.#counts.get(cluster) ?? 0) + by;
    if (count > 0) this.#counts.set(cluster, count);
    else this.#counts.delete(cluster);
    if (by > 0) this.#coming.get(cluster)?.delete(`${namespace}/${name}`);
  }

  #comingTo(cluster: string): number {
    const coming = this.#coming.get(cluster);
    if (coming === undefined) return 0;
    const now = this.#now();
    for (const [key, until] of coming) if (until <= now) coming.delete(key);
    if (coming.size === 0) this.#coming.delete(cluster);
    return coming.size;
  }
}
