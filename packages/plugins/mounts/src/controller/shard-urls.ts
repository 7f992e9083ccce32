import { type Client, Informer } from "@virtual-workspaces/client";
import { ROOT_CLUSTER, ROOT_SHARD, Shard } from "@virtual-workspaces/kcp";
import type { MountUrls } from "../view/options.ts";

/** What is said where mounts are. */
export interface ShardUrlsOptions {
  /** By which `root` is read. */
  readonly client: Client;
  /** The Shard's name. @default "root" */
  readonly shard?: string | undefined;
  /** @default as the Shard says */
  readonly urls?: MountUrls | undefined;
  /** They are others now. */
  readonly changed: () => void;
}

/** Where a shard serves its views, and its workspaces, as its Shard says. */
export class ShardUrls implements AsyncDisposable {
  readonly #given: MountUrls | undefined;
  readonly #informer: Informer<Pick<Shard, "spec">> | undefined;

  constructor({ client, shard = ROOT_SHARD, urls, changed }: ShardUrlsOptions) {
    this.#given = urls;
    if (urls !== undefined) return;
    const resource = client.cluster(ROOT_CLUSTER).resource(Shard);
    this.#informer = new Informer({ resource, fields: `metadata.name=${shard}` });
    this.#informer.on({ added: changed, updated: changed });
  }

  /** `undefined` while nobody knows. */
  get(): MountUrls | undefined {
    if (this.#given !== undefined) return this.#given;
    const [shard] = this.#informer?.store.list() ?? [];
    if (shard?.spec === undefined) return undefined;
    const { baseURL, virtualWorkspaceURL = baseURL, externalURL = baseURL } = shard.spec;
    return { services: virtualWorkspaceURL, clusters: externalURL };
  }

  start(): void {
    this.#informer?.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer?.stop();
  }
}
