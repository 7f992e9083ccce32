import type { LogicalCluster } from "@virtual-workspaces/kcp";
import type { KcpPhase } from "../phase.ts";
import type { Asked, Waiting, WaitingWorkspaces } from "../waiting.ts";
import { WaitingClusters, type WaitingClustersOptions } from "./waiting-clusters.ts";
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

  of(holder: string): Waiting {
    return this.#resources.of(holder);
  }

  async find({ params: { cluster, holder }, signal }: Asked): Promise<LogicalCluster | undefined> {
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
