import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, Informer, withoutManagedFields } from "@virtual-workspaces/client";
import { type Holds, LOGICAL_CLUSTER_NAME, LogicalCluster } from "@virtual-workspaces/kcp";
import type { KcpPhase } from "../phase.ts";
import type { WaitingLists, WaitingWorkspaces, WorkspaceRequest } from "../waiting.ts";
import { WaitingResources, type WaitingResourcesOptions } from "./waiting-resources.ts";

/**
 * Workspaces that wait according to the labels that the shard sets. An informer has all waiting workspaces while the view is
 * served. Memory: about 1 KiB for each.
 */
export class LabelledWorkspaces implements WaitingWorkspaces {
  readonly #phase: KcpPhase;
  readonly #client: Client;
  readonly #informer: Informer<Holds<typeof LogicalCluster>>;
  readonly #resources: WaitingResources;

  constructor(options: WaitingResourcesOptions) {
    const { phase, upstream, onError } = options;
    this.#phase = phase;
    this.#client = new Client({ upstream, cluster: "*" });
    this.#informer = new Informer({
      resource: this.#client.resource(LogicalCluster),
      labels: phase.waiting,
      transform: withoutManagedFields,
      onError,
      onProblem: onError,
    });
    this.#resources = new WaitingResources(options);
  }

  of(holder: string): WaitingLists {
    return this.#resources.of(holder);
  }

  async find({ params: { cluster, holder }, signal }: WorkspaceRequest): Promise<LogicalCluster | undefined> {
    const waits = (found: LogicalCluster | undefined): found is LogicalCluster =>
      found !== undefined && this.#phase.waits(found, holder);
    const known = this.#informer.store.get({ cluster, name: LOGICAL_CLUSTER_NAME });
    if (waits(known)) return known;
    const current = await this.#read(cluster, signal);
    return waits(current) ? current : undefined;
  }

  start(): AsyncDisposable {
    const informer = this.#informer.start();
    return {
      [Symbol.asyncDispose]: async () =>
        void (await Promise.all([informer, this.#resources].map((each) => each[Symbol.asyncDispose]()))),
    };
  }

  ready(): Promise<void> {
    return this.#informer.synced;
  }

  /** Reads the current state from the shard, since the informer may not have a new workspace yet. @throws ApiError 503 */
  async #read(cluster: string, signal: AbortSignal): Promise<LogicalCluster | undefined> {
    try {
      return await this.#client.cluster(cluster).resource(LogicalCluster).get(LOGICAL_CLUSTER_NAME, { signal });
    } catch (error) {
      // A shard rejects a workspace that does not exist with 403.
      if (isApiError(error) && (error.code === 404 || error.code === 403)) return undefined;
      throw error;
    }
  }
}
