import { type Client, Informer } from "@virtual-workspaces/client";
import { Shard } from "../kinds/shard.ts";
import { ROOT_CLUSTER, ROOT_SHARD } from "../names/names.ts";

/** Where a shard's views and workspaces are served: what statuses say. */
export interface ServedUrls {
  /** Before `/services`: `https://host:6443`. */
  readonly services: string;
  /** Before `/clusters`. */
  readonly clusters: string;
}

/** What {@link ShardLocation} goes by. */
export interface ShardLocationOptions {
  /** By which `root` is read. */
  readonly client: Client;
  /** The Shard's name. @default "root" */
  readonly shard?: string | undefined;
  /** @default as the Shard says */
  readonly urls?: ServedUrls | undefined;
  /** They are others now. */
  readonly changed: () => void;
}

/** Where a shard serves its views, and its workspaces, as its Shard says. */
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

  /** `undefined` while nobody knows. */
  get(): ServedUrls | undefined {
    if (this.#given !== undefined) return this.#given;
    const [shard] = this.#informer?.store.list() ?? [];
    if (shard?.spec === undefined) return undefined;
    const { baseURL, virtualWorkspaceURL = baseURL, externalURL = baseURL } = shard.spec;
    return { services: virtualWorkspaceURL, clusters: externalURL };
  }

  /** Begins to follow the Shard, if anything is to be read of it. */
  start(): void {
    this.#informer?.start();
  }

  /** Ends; nothing is told any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer?.stop();
  }
}
