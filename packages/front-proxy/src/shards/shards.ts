import { Client, Informer } from "@virtual-workspaces/client";
import { type Holds, ROOT_CLUSTER, Shard } from "@virtual-workspaces/kcp";
import type { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import { tenancyIdentity } from "@virtual-workspaces/kcp/informers";
import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { InformerProgress } from "../informers.ts";
import { IndexedShard } from "./indexed-shard.ts";

/** Options of {@link Shards}. */
export interface ShardsOptions {
  /** Server of `root`, which has the Shards, with the credentials of an administrator (`--root-kubeconfig`). */
  readonly root: Upstream;
  /** Options of the connection to a shard, with the credentials of an administrator; all but its URL (`--shards-kubeconfig`). */
  readonly shards: Omit<UpstreamOptions, "url">;
  /** Receives the authentication settings of workspace types. @default types are not read */
  readonly logins?: WorkspaceAuthentication | undefined;
  /** Index to fill. @default a new one */
  readonly index?: PathIndex;
  /** Called for failed reads, with the shard. */
  readonly onError: (error: unknown, shard: string | undefined) => void;
}

interface KnownShard {
  readonly baseURL: string;
  /** URL of its workspaces for users. */
  externalURL: string;
  readonly upstream: Upstream;
  /** Undefined until the identity of Workspaces is known. */
  reading: IndexedShard | undefined;
}

/** URLs of a shard. */
export interface ShardURLs extends Pick<KnownShard, "baseURL" | "externalURL"> {
  readonly name: string;
}

/** State of the index for a shard. */
export interface ShardState {
  readonly name: string;
  readonly logicalClusters: number;
  /** Seconds. */
  readonly lag: number;
}

/** Shards of the shard registry in `root`, and the index of their workspaces. */
export class Shards implements AsyncDisposable {
  readonly index: PathIndex;
  /** Resolves after the first attempt to read all shards that exist at the start. Rejects if closed before. */
  readonly started: Promise<void>;
  readonly #options: ShardsOptions;
  readonly #known = new Map<string, KnownShard>();
  readonly #closing = new Set<Promise<void>>();
  readonly #informer: Informer<Holds<typeof Shard>>;
  readonly #reading: InformerProgress;
  readonly #stop = new AbortController();
  readonly #changed: (shard: string) => void;
  #identity: string | undefined;
  #isStarted = false;

  /** @param changed called for a shard that is added, removed, or changes its URL */
  constructor(options: ShardsOptions, changed: (shard: string) => void) {
    this.#options = options;
    this.index = options.index ?? new PathIndex();
    this.#changed = changed;
    this.#reading = new InformerProgress((error) => options.onError(error, undefined));
    const client = new Client({ upstream: options.root, cluster: ROOT_CLUSTER });
    this.#informer = new Informer({ resource: client.resource(Shard) });
    this.#informer.on({
      added: (shard, { key }) => this.#set(key.name, shard),
      updated: (shard, _, { key }) => this.#set(key.name, shard),
      deleted: (_, { key }) => this.#delete(key.name),
      lifecycle: (event) => this.#reading.see(event),
    });
    this.#informer.start();
    this.started = this.#start(client);
    this.started.catch(() => undefined); // Callers need not wait for it.
  }

  /** Whether all shards have been read completely at least once. Until then, a path without an entry may exist. */
  get isWhole(): boolean {
    return this.#isStarted && [...this.#known.values()].every(({ reading }) => reading?.isFilled === true);
  }

  /** Readiness check. @throws Error before the shards have been read */
  check(): void {
    if (!this.#isStarted) throw new Error("the shards have not been read yet");
  }

  /** Whether an origin belongs to a shard or, for users, to the whole system. */
  isOwn(origin: string): boolean {
    return isOwnOrigin(this.#known.values(), origin);
  }

  /** URLs of all known shards: their own, and those of their workspaces for users. */
  get urls(): readonly ShardURLs[] {
    return [...this.#known].map(([name, { baseURL, externalURL }]) => ({ name, baseURL, externalURL }));
  }

  /** States of all known shards. */
  get states(): readonly ShardState[] {
    return [...this.#known].map(([name, { reading }]) => ({
      name,
      logicalClusters: this.index.logicalClusters(name),
      lag: reading?.lag ?? Number.POSITIVE_INFINITY,
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the shard registry was closed"));
    await this.#informer.stop();
    for (const name of [...this.#known.keys()]) this.#delete(name);
    await Promise.all(this.#closing);
  }

  async #start(client: Client): Promise<void> {
    const { signal } = this.#stop;
    this.#identity = await tenancyIdentity(client, { signal, onError: (error) => this.#reading.failed(error) });
    for (const [name, known] of this.#known) this.#read(name, known);
    await this.#informer.synced;
    await Promise.all([...this.#known.values()].map(({ reading }) => reading?.tried));
    this.#isStarted = true;
  }

  #set(name: string, { spec }: Shard): void {
    const { baseURL, externalURL = baseURL, virtualWorkspaceURL = baseURL } = spec ?? {};
    if (baseURL === undefined || externalURL === undefined || !URL.canParse(baseURL)) {
      this.#delete(name);
      return;
    }
    const known = this.#known.get(name);
    // Security: a shard at another URL may be another server, so its former data is dropped, as in kcp.
    if (known !== undefined && known.baseURL !== baseURL) this.#delete(name);
    else if (known !== undefined) known.externalURL = externalURL;
    this.index.setShard(name, { baseURL, virtualWorkspaceURL });
    if (!this.#known.has(name)) this.#add(name, { baseURL, externalURL });
    this.#changed(name);
  }

  #add(name: string, urls: Pick<KnownShard, "baseURL" | "externalURL">): void {
    const added: KnownShard = {
      ...urls,
      upstream: new Upstream({ ...this.#options.shards, url: urls.baseURL }),
      reading: undefined,
    };
    this.#known.set(name, added);
    this.#read(name, added);
  }

  #read(name: string, known: KnownShard): void {
    if (this.#identity === undefined || known.reading !== undefined) return;
    known.reading = new IndexedShard({
      name,
      upstream: known.upstream,
      identity: this.#identity,
      index: this.index,
      logins: this.#options.logins,
      onError: (error) => this.#options.onError(error, name),
    });
  }

  #delete(name: string): void {
    const known = this.#known.get(name);
    this.#known.delete(name);
    if (known !== undefined) this.#leave(known);
    this.index.deleteShard(name);
    this.#options.logins?.deleteShard(name);
    this.#changed(name);
  }

  #leave(known: KnownShard): void {
    const over = this.#close(known).then(() => {
      this.#closing.delete(over);
    });
    this.#closing.add(over);
  }

  async #close({ reading, upstream }: KnownShard): Promise<void> {
    await reading?.[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  }
}

/** Whether an origin is one of these shards' URLs. */
export function isOwnOrigin(shards: Iterable<Pick<ShardURLs, "baseURL" | "externalURL">>, origin: string): boolean {
  return [...shards].some(({ baseURL, externalURL }) => [baseURL, externalURL].some((url) => originOf(url) === origin));
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
