import { type ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { Client, Informer, withoutManagedFields } from "@virtual-workspaces/client";
import { type Holds, LogicalCluster } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { KcpPhase } from "../phase.ts";

/** Which workspaces, and where. */
export interface WaitingClustersOptions {
  readonly phase: KcpPhase;
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

/** What every logical cluster has one of. */
const NAME = "cluster";

/** The workspaces of a shard that wait for any controller, followed while the view is served. Memory: 1 KiB or so for each. */
export class WaitingClusters {
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
