import { type Client, Informer } from "@virtual-workspaces/client";
import { Shard } from "../kinds/shard.ts";
import { ROOT_CLUSTER, ROOT_SHARD } from "../names/names.ts";

/** URLs of a shard's views and workspaces, as statuses show them. */
export interface ServedUrls {
  /** URL before `/services`: `https://host:6443`. */
  readonly services: string;
  /** URL before `/clusters`. */
  readonly clusters: string;
}

/** Options of {@link ShardLocation}. */
export interface ShardLocationOptions {
  /** Client that reads `root`. */
  readonly client: Client;
  /** Name of the Shard. @default "root" */
  readonly shard?: string | undefined;
  /** Fixed URLs. @default the URLs of the Shard */
  readonly urls?: ServedUrls | undefined;
  /** Called when the URLs change. */
  readonly changed: () => void;
}

/** URLs of a shard's views and workspaces, from its Shard. */
export class ShardLocation implements AsyncDisposable {
  readonly #given: ServedUrls | undefined;
  readonly #informer: Informer<Pick<Shard, "spec">> | undefined;

  constructor({ client, shard = ROOT_SHARD, urls, changed }: ShardLocationOptions) {
    this.#given = urls;
    if (urls !== undefined) return;
    const resource = client.cluster(ROOT_CLUSTER).resource(Shard);
    this.#informer = new Informer({ resource, fields: `metadata.name=${shard}` });
    this.#informer.on({ added: changed, updated: changed });
  }

  /** Returns the URLs, `undefined` while they are unknown. */
  get(): ServedUrls | undefined {
    if (this.#given !== undefined) return this.#given;
    const [shard] = this.#informer?.store.list() ?? [];
    if (shard?.spec === undefined) return undefined;
    const { baseURL, virtualWorkspaceURL = baseURL, externalURL = baseURL } = shard.spec;
    return { services: virtualWorkspaceURL, clusters: externalURL };
  }

  /** Starts to watch the Shard, unless the URLs are fixed. */
  start(): void {
    this.#informer?.start();
  }

  /** Stops the watch. `changed` is not called afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer?.stop();
  }
}
