import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { type LogicalCluster, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { MAX_TOTAL_OBJECTS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ObjectFeed } from "@virtual-workspaces/store";
import type { ShardState } from "../state/shard-state.ts";

/** What is made whatever the limit: workspaces are set up by it, and events tell why nothing else is. */
const EXEMPT: ReadonlySet<string> = new Set(["logicalclusters.core.kcp.io", "events.", "events.events.k8s.io"]);

/** What the limit is looked up in. */
export interface ObjectLimitOptions {
  readonly counts: ObjectCounts;
  readonly state: Pick<ShardState, "logicalCluster">;
  /** Of logical clusters that say nothing else, but `root` and those of the system; 0: none. */
  readonly byDefault: number;
}

/**
 * Admission of new objects up to a number for each logical cluster, of whichever kind (kcp's
 * `core.kcp.io/LogicalClusterObjectCountLimit`): the annotation `core.kcp.io/max-total-objects` of the LogicalCluster, or
 * the default. Not before it is Ready, and not while objects are still being counted.
 *
 * Its refusal is a 403 that says how many there are and may be.
 */
export function objectLimit(options: ObjectLimitOptions): Admit {
  return (request) => {
    const { operation, subresource, definition, params } = request;
    if (operation !== "CREATE" || subresource !== "" || EXEMPT.has(`${definition.plural}.${definition.group}`)) return;
    const cluster = params["cluster"] ?? "";
    const limit = limitOf(options.state.logicalCluster(cluster), { ...options, cluster });
    if (limit > 0) admitOne(request, { ...options, cluster, limit });
  };
}

interface Limited extends Pick<ObjectLimitOptions, "counts"> {
  readonly cluster: string;
  readonly limit: number;
}

function admitOne({ definition, object, dryRun }: AdmitRequest, { counts, cluster, limit }: Limited): void {
  const { namespace = "", name = "" } = object?.metadata ?? {};
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

/** How long what was admitted counts before it has come, ms: it may also have failed, and will never come. */
const COMES_WITHIN = 2_000;

/** What is not counted, so that a workspace that is full can be looked into: events go by themselves. */
const UNCOUNTED: ReadonlySet<string> = new Set(["/events", "events.k8s.io/events"]);

/**
 * How many objects each logical cluster of a shard has, of all kinds but events: a number for each logical cluster, from the
 * one watch of the shard. What was admitted and is on its way counts as well, so that many at a time do not get past a limit.
 */
export class ObjectCounts implements Disposable {
  readonly #feed: ObjectFeed;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  /** Until when, by `<namespace>/<name>`. */
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

  /** `undefined` while they are being counted. */
  in(cluster: string): number | undefined {
    if (!this.#feed.isSynced) return undefined;
    return (this.#counts.get(cluster) ?? 0) + this.#comingTo(cluster);
  }

  /** Counts one that will be there shortly; one that does not come counts no longer than that. */
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
