import { WILDCARD } from "@virtual-workspaces/apimachinery";
import { parseFieldSelector, parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type Mapped, type Verb, view, type WritableView } from "@virtual-workspaces/framework";
import { type CacheLease, decodeObject } from "@virtual-workspaces/framework/storage";
import { LOGICAL_CLUSTER_NAME, type LogicalCluster } from "@virtual-workspaces/kcp";
import { WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { ShownLogicalCluster, statusRule } from "../clusters/shown-logical-cluster.ts";
import { PREPARING } from "../phase.ts";
import type { WaitingLists, WaitingWorkspaces, WorkspaceRequest } from "../waiting.ts";
import type { WorkspaceTypes } from "../workspace-types.ts";
import { PreparingTypes, preparedLabel } from "./preparing-types.ts";
import { ReadyClusters, type ReadyClustersOptions } from "./ready-clusters.ts";

/** Options of {@link UnpreparedWorkspaces}. */
export interface UnpreparedWorkspacesOptions extends ReadyClustersOptions {
  readonly types: WorkspaceTypes;
}

const READ: readonly Verb[] = ["get", "list", "watch"];
const EVERYTHING = { labels: parseLabelSelector(""), fields: parseFieldSelector("") };

/** Ready workspaces that a type prepares and has not prepared yet. This process computes them, since shards do not know the phase. */
export class UnpreparedWorkspaces implements WaitingWorkspaces {
  readonly #clusters: ReadyClusters;
  readonly #types: PreparingTypes;
  readonly #view: WritableView<object, object, string, Record<never, never>>;
  readonly #served: WaitingLists;

  constructor({ types, ...place }: UnpreparedWorkspacesOptions) {
    this.#clusters = new ReadyClusters(place);
    this.#types = new PreparingTypes(types);
    this.#view = view<object, object, string>({
      from: this.#clusters,
      varyBy: ({ params }) => params["holder"] ?? "",
      depends: this.#types,
      select: (object, { variant }) => this.#wants(object as LogicalCluster, variant),
      map: (object, { variant }) => mapped(object as LogicalCluster, variant),
      mapToSource: (object, { variant, source }) =>
        unmapped(object as LogicalCluster, source as LogicalCluster, variant),
      allowLeavingView: true,
      onError: place.onError,
    });
    const { everywhere, one } = {
      everywhere: ShownLogicalCluster.serve(this.#view, { verbs: READ, statusVerbs: [] }),
      one: ShownLogicalCluster.serve(this.#view, {
        verbs: ["get"],
        statusVerbs: ["get", "patch", "update"],
        admit: (write) => statusRule(PREPARING, write.params["holder"] ?? "")(write),
      }),
    };
    this.#served = { everywhere: Object.freeze([everywhere]), one: Object.freeze([one]) };
  }

  of(): WaitingLists {
    return this.#served;
  }

  async find({ params, user, signal }: WorkspaceRequest): Promise<LogicalCluster | undefined> {
    const scope = { params: { ...params }, cluster: WILDCARD, namespace: "", ...EVERYTHING, identity: user };
    using lease = await this.#view.cache(scope);
    const found = inLease(lease, params.cluster);
    if (found !== undefined) return found;
    await lease.confirm({ signal });
    return inLease(lease, params.cluster);
  }

  start(): AsyncDisposable {
    const types = this.#types.start();
    return {
      [Symbol.asyncDispose]: async () => {
        await Promise.all([types, this.#clusters].map((each) => each[Symbol.asyncDispose]()));
      },
    };
  }

  ready(): Promise<void> {
    return this.#clusters.ready();
  }

  #wants(cluster: LogicalCluster, holder: string): boolean {
    const { metadata, status } = cluster;
    if (status?.phase !== "Ready" || metadata.deletionTimestamp !== undefined) return false;
    if (isPrepared(cluster, holder)) return false;
    const type = metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
    return type !== undefined && this.#types.wanting(type).has(holder);
  }
}

function mapped(cluster: LogicalCluster, holder: string): Mapped<{ readonly status: object }> {
  return { ...cluster, status: { ...cluster.status, initializers: isPrepared(cluster, holder) ? [] : [holder] } };
}

/** Stores the changes that {@link statusRule} allows: the conditions, and the label of a finished controller. */
function unmapped(said: LogicalCluster, source: LogicalCluster, holder: string): Mapped<{ readonly status: object }> {
  const { key, value } = preparedLabel(holder);
  const { conditions } = said.status ?? {};
  const { conditions: _, ...status } = source.status ?? {};
  const isDone = said.status?.initializers?.includes(holder) !== true;
  return {
    ...source,
    metadata: { ...source.metadata, labels: { ...source.metadata.labels, ...(isDone && { [key]: value }) } },
    status: { ...status, ...(conditions !== undefined && { conditions }) },
  };
}

function isPrepared({ metadata }: LogicalCluster, holder: string): boolean {
  return metadata.labels?.[preparedLabel(holder).key] !== undefined;
}

function inLease({ cache }: CacheLease, cluster: string): LogicalCluster | undefined {
  const found = cache.get({ cluster, namespace: "", name: LOGICAL_CLUSTER_NAME });
  return found && (decodeObject(found) as LogicalCluster);
}
