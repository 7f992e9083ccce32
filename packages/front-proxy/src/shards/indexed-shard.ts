import { Client } from "@virtual-workspaces/client";
import {
  type Holds,
  indexedLogicalCluster,
  indexedWorkspace,
  LogicalCluster,
  type PathIndex,
  Workspace,
  type WorkspaceAuthentication,
} from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import { type AnyKind, FollowedKind } from "./followed-kind.ts";
import { kept } from "./kept.ts";
import { followedLogins } from "./logins.ts";

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
  /** Told what its types of workspaces say of who logs in. */
  readonly logins: WorkspaceAuthentication | undefined;
  /** Told of failures, each spell once. */
  readonly onError: (error: unknown) => void;
}

/** Keeps the index in step with the Workspaces and LogicalClusters of one shard, and what says who logs in to them. */
export class IndexedShard implements AsyncDisposable {
  readonly #indexed: readonly AnyKind[];
  readonly #logins: readonly AnyKind[];
  /** Resolves when it has, or an attempt failed. */
  readonly tried: Promise<void>;

  constructor({ name, upstream, identity, index, logins, onError }: IndexedShardOptions) {
    const client = new Client({ upstream, cluster: "*" });
    const workspaces = new FollowedKind<Holds<typeof Workspace>>({
      resource: client.resource(Workspace, { identity }),
      transform: kept,
      backoff: BACKOFF,
      set: (object) => {
        const workspace = indexedWorkspace(object);
        if (workspace !== undefined) index.setWorkspace(name, workspace);
      },
      deleted: (key) => index.deleteWorkspace(name, key),
      onError,
    });
    const clusters = new FollowedKind<Holds<typeof LogicalCluster>>({
      resource: client.resource(LogicalCluster),
      transform: kept,
      backoff: BACKOFF,
      set: (object) => {
        const cluster = indexedLogicalCluster(object);
        if (cluster !== undefined) index.setLogicalCluster(name, cluster);
      },
      deleted: ({ cluster }) => index.deleteLogicalCluster(name, cluster),
      onError,
    });
    this.#indexed = [workspaces, clusters];
    this.#logins = logins === undefined ? [] : followedLogins({ name, client, identity, logins, onError });
    this.tried = Promise.all(this.#all.map(({ tried }) => tried)).then(() => undefined);
  }

  /** Whether the index has had all of the shard, however old that is by now. */
  get isFilled(): boolean {
    return this.#indexed.every(({ isFilled }) => isFilled);
  }

  /** How old what is known of the shard may be, s: since when it has given no sign of life. A few seconds while all is well. */
  get lag(): number {
    return Math.max(0, Date.now() - Math.min(...this.#indexed.map(({ seenAt }) => seenAt))) / 1000;
  }

  /** Ends reading. The index is told nothing from now on; what it was told stays there. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((kind) => kind[Symbol.asyncDispose]()));
  }

  get #all(): readonly AnyKind[] {
    return [...this.#indexed, ...this.#logins];
  }
}
