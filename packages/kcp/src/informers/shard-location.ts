import { type Client, Informer } from "@virtual-workspaces/client";
import { Shard, type ShardSpec } from "../kinds/shard.ts";
import { pathBelow, ROOT_CLUSTER, ROOT_SHARD } from "../names/names.ts";

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
  /** Called when the URLs of a shard change. */
  readonly changed: () => void;
  /** Receives why the Shards cannot be read, once for each reason. The informer retries. */
  readonly onError: (error: unknown) => void;
}

/** URLs of a shard's views and workspaces, from its Shard, and those of all shards. */
export class ShardLocation implements AsyncDisposable {
  readonly #shard: string;
  readonly #given: ServedUrls | undefined;
  readonly #changed: () => void;
  readonly #informer: Informer<Pick<Shard, "spec">> | undefined;
  #known = "";

  constructor({ client, shard = ROOT_SHARD, urls, changed, onError }: ShardLocationOptions) {
    this.#shard = shard;
    this.#given = urls;
    this.#changed = changed;
    if (urls !== undefined) return;
    this.#informer = new Informer({ resource: client.cluster(ROOT_CLUSTER).resource(Shard), onError });
    this.#informer.on({ added: this.#look, updated: this.#look, deleted: this.#look });
  }

  /** Returns the URLs, `undefined` while they are unknown. */
  get(): ServedUrls | undefined {
    if (this.#given !== undefined) return this.#given;
    const shard = this.#informer?.store.get({ cluster: ROOT_CLUSTER, namespace: "", name: this.#shard });
    return shard?.spec && urlsOf(shard.spec);
  }

  /** Returns the path of a URL that leads to a shard: `/clusters/root`. @returns `undefined` for any other URL */
  pathOf(url: string): string | undefined {
    if (!URL.canParse(url)) return undefined;
    const place = new URL(url);
    for (const base of this.#bases()) {
      const path = URL.canParse(base) ? pathBelow(place, base) : undefined;
      if (path !== undefined) return path;
    }
    return undefined;
  }

  /** Starts to watch the Shards, unless the URLs are fixed. */
  start(): void {
    this.#informer?.start();
  }

  /** Stops the watch. `changed` is not called afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer?.stop();
  }

  #bases(): readonly string[] {
    if (this.#given !== undefined) return [this.#given.services, this.#given.clusters];
    return (this.#informer?.store.list() ?? []).flatMap(({ spec }) => {
      if (spec === undefined) return [];
      const { services, clusters } = urlsOf(spec);
      return [services, clusters, spec.baseURL];
    });
  }

  /** Most changes of Shards are changes of their status. */
  readonly #look = (): void => {
    const known = JSON.stringify([this.get(), this.#bases()]);
    if (known === this.#known) return;
    this.#known = known;
    this.#changed();
  };
}

function urlsOf({ baseURL, virtualWorkspaceURL = baseURL, externalURL = baseURL }: ShardSpec): ServedUrls {
  return { services: virtualWorkspaceURL, clusters: externalURL };
}
