import { type KubeObject, WILDCARD } from "@virtual-workspaces/apimachinery";
import { parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { Client } from "@virtual-workspaces/client";
import { forward, type WritableForwarded } from "@virtual-workspaces/forwarding";
import type { Resource, WritableSource } from "@virtual-workspaces/framework";
import type { CacheLease, Scope, WriteOptions } from "@virtual-workspaces/framework/storage";
import { LogicalCluster } from "@virtual-workspaces/kcp";
import { PHASE_LABEL } from "@virtual-workspaces/kcp/names";
import type { Upstream } from "@virtual-workspaces/transport";
import { ShownLogicalCluster } from "../clusters/shown-logical-cluster.ts";

/** Options of {@link ReadyClusters}. */
export interface ReadyClustersOptions {
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

/**
 * Ready LogicalClusters of a shard, in one shared watch while there are readers. Of a write, it stores labels and conditions, in
 * two requests to the shard. The conditions come first, so that the workspace still waits after an interruption.
 */
export class ReadyClusters implements WritableSource, AsyncDisposable {
  readonly resource: Resource = ShownLogicalCluster;
  readonly lifecycle = "storage";
  readonly #clusters: WritableForwarded<object>;
  readonly #client: Client;

  constructor({ upstream, onError }: ReadyClustersOptions) {
    const labels = parseLabelSelector(`${PHASE_LABEL}=Ready`);
    const place = { resource: ShownLogicalCluster, upstream, identity: "none", onError } as const;
    this.#clusters = forward<object>({ ...place, labels }) as WritableForwarded<object>;
    this.#client = new Client({ upstream, cluster: WILDCARD });
  }

  cache(scope: Scope): Promise<CacheLease> {
    return this.#clusters.cache({ ...scope, cluster: WILDCARD });
  }

  /** All readers share the objects; the view authorizes them. */
  shareKey(): string {
    return "";
  }

  async update(scope: Scope, { metadata, ...object }: KubeObject, asked: WriteOptions): Promise<KubeObject> {
    const { name = "", labels } = metadata;
    const { dryRun, fieldManager, signal } = asked;
    const options = { dryRun, signal, ...(fieldManager !== "" && { fieldManager }) };
    const clusters = this.#client.cluster(scope.cluster).resource(LogicalCluster);
    const { conditions = null } = (object as LogicalCluster).status ?? {};
    const version = { resourceVersion: metadata.resourceVersion };
    const { metadata: said } = await clusters.status.mergePatch(
      name,
      { metadata: version, status: { conditions } },
      options,
    );
    return clusters.mergePatch(name, { metadata: { resourceVersion: said.resourceVersion, labels } }, options);
  }

  create(...write: Parameters<WritableForwarded<object>["create"]>): ReturnType<WritableForwarded<object>["create"]> {
    return this.#clusters.create(...write);
  }

  delete(...write: Parameters<WritableForwarded<object>["delete"]>): ReturnType<WritableForwarded<object>["delete"]> {
    return this.#clusters.delete(...write);
  }

  /** Like {@link WritableForwarded.ready}. */
  get ready(): () => Promise<void> {
    return this.#clusters.ready;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#clusters[Symbol.asyncDispose]();
  }
}
