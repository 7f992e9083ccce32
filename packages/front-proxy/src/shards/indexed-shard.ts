import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Client, Informer, type InformerHandlers } from "@virtual-workspaces/client";
import {
  type Holds,
  indexedLogicalCluster,
  indexedWorkspace,
  LogicalCluster,
  type PathIndex,
  Workspace,
} from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import { kept } from "./kept.ts";
import { Reading } from "./reading.ts";

/** A shard on which no workspace has Workspaces yet is asked again soon: the first one comes with no event. ms */
const BACKOFF = { most: 500 };

/** A shard that is read. */
export interface IndexedShardOptions {
  readonly name: string;
  /** Asked as one of its administrators. */
  readonly upstream: Upstream;
  /** Of Workspaces. */
  readonly identity: string;
  readonly index: PathIndex;
  /** Told of failures, each spell once. */
  readonly onError: (error: unknown) => void;
}

/** Keeps the index in step with the Workspaces and LogicalClusters of one shard. */
export class IndexedShard implements AsyncDisposable {
  readonly #informers: readonly Informer[];
  readonly #readings: readonly Reading[];
  readonly #began: number = Date.now();
  #isOver = false;
  /** Resolves when it has, or an attempt failed. */
  readonly tried: Promise<void>;

  constructor({ name, upstream, identity, index, onError }: IndexedShardOptions) {
    const client = new Client({ upstream, cluster: "*" });
    const [ofWorkspaces, ofClusters] = [new Reading(onError), new Reading(onError)];
    const workspaces = new Informer<Holds<typeof Workspace>>({
      resource: client.resource(Workspace, { identity }),
      transform: kept,
      backoff: BACKOFF,
    });
    workspaces.on({
      ...this.#changes((object) => {
        const workspace = indexedWorkspace(object);
        if (workspace !== undefined) index.setWorkspace(name, workspace);
      }),
      deleted: (_, { key }) => {
        if (!this.#isOver) index.deleteWorkspace(name, { cluster: key.cluster, name: key.name });
      },
      lifecycle: (event) => ofWorkspaces.see(event),
    });
    const clusters = new Informer<Holds<typeof LogicalCluster>>({
      resource: client.resource(LogicalCluster),
      transform: kept,
      backoff: BACKOFF,
    });
    clusters.on({
      ...this.#changes((object) => {
        const cluster = indexedLogicalCluster(object);
        if (cluster !== undefined) index.setLogicalCluster(name, cluster);
      }),
      deleted: (_, { key }) => {
        if (!this.#isOver) index.deleteLogicalCluster(name, key.cluster);
      },
      lifecycle: (event) => ofClusters.see(event),
    });
    this.#informers = [workspaces.start(), clusters.start()] as unknown as readonly Informer[];
    this.#readings = [ofWorkspaces, ofClusters];
    this.tried = Promise.all(this.#readings.map(({ tried }) => tried)).then(() => undefined);
  }

  /** Whether the index has had all of the shard, however old that is by now. */
  get isFilled(): boolean {
    return this.#readings.every(({ isFilled }) => isFilled);
  }

  /** How old what is known of the shard may be, s: since when it has given no sign of life. A few seconds while all is well. */
  get lag(): number {
    const seen = this.#informers.map(({ lastEventAt }) => lastEventAt?.getTime() ?? this.#began);
    return Math.max(0, Date.now() - Math.min(...seen)) / 1000;
  }

  /** Ends reading. The index is told nothing from now on; what it was told stays there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  #changes<T extends KubeObject>(set: (object: T) => void): Pick<InformerHandlers<T>, "added" | "updated"> {
    const changed = (object: T): void => {
      if (!this.#isOver) set(object);
    };
    return { added: changed, updated: changed };
  }
}
