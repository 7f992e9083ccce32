import { type ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { Client, Informer, withoutManagedFields } from "@virtual-workspaces/client";
import { type Holds, LogicalCluster } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { KcpPhase } from "../phase.ts";
import type { WaitingLists, WaitingWorkspaces, WorkspaceRequest } from "../waiting.ts";
import { WaitingResources } from "./waiting-resources.ts";

/** Those of which the shard says by labels whom they wait for. */
export class LabelledWorkspaces implements WaitingWorkspaces {
  readonly #phase: KcpPhase;
  readonly #clusters: WaitingClusters;
  readonly #resources: WaitingResources;

  constructor(options: WaitingClustersOptions) {
    this.#phase = options.phase;
    this.#clusters = new WaitingClusters(options);
    this.#resources = new WaitingResources(options);
  }

  of(holder: string): WaitingLists {
    return this.#resources.of(holder);
  }

  async find({ params: { cluster, holder }, signal }: WorkspaceRequest): Promise<LogicalCluster | undefined> {
    const waits = (found: LogicalCluster | undefined): found is LogicalCluster =>
      found !== undefined && this.#phase.waits(found, holder);
    const known = this.#clusters.known(cluster);
    if (waits(known)) return known;
    const asked = await this.#clusters.asked(cluster, signal);
    return waits(asked) ? asked : undefined;
  }

  start(): AsyncDisposable {
    const clusters = this.#clusters.start();
    return {
      [Symbol.asyncDispose]: async () =>
        void (await Promise.all([clusters, this.#resources].map((each) => each[Symbol.asyncDispose]()))),
    };
  }

  ready(): Promise<void> {
    return this.#clusters.synced;
  }
}

/** Which workspaces, and where. */
interface WaitingClustersOptions {
  readonly phase: KcpPhase;
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

/** What every logical cluster has one of. */
const NAME = "cluster";

/** The workspaces of a shard that wait for any controller, followed while the view is served. Memory: 1 KiB or so for each. */
class WaitingClusters {
  readonly #client: Client;
  readonly #informer: Informer<Holds<typeof LogicalCluster>>;

  constructor({ phase, upstream, onError }: WaitingClustersOptions) {
    this.#client = new Client({ upstream, cluster: "*" });
    this.#informer = new Informer({
      resource: this.#client.resource(LogicalCluster),
      labels: phase.waiting,
      transform: withoutManagedFields,
      onProblem: onError,
    });
  }

  /** Follows them until it is disposed of. */
  start(): AsyncDisposable {
    return this.#informer.start();
  }

  get synced(): Promise<void> {
    return this.#informer.synced;
  }

  /** Who waits there, as it is known. */
  known(cluster: string): LogicalCluster | undefined {
    return this.#informer.store.get({ cluster, name: NAME });
  }

  /** The same, as the shard says right now: of one that has just begun nobody may have heard. @throws ApiError 503 */
  async asked(cluster: string, signal: AbortSignal): Promise<LogicalCluster | undefined> {
    try {
      return await this.#client.cluster(cluster).resource(LogicalCluster).get(NAME, { signal });
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }
}

/** A workspace that nobody has is refused, not missing. */
function isGone(error: unknown): error is ApiError {
  return isApiError(error) && (error.code === 404 || error.code === 403);
}
