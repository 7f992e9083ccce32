import { createServer, type Server } from "@virtual-workspaces/framework";
import type { Listening, ListenOptions } from "@virtual-workspaces/framework/server";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { type Loopback, loopback } from "./loopback/loopback.ts";
import { OwnServices } from "./loopback/own-services.ts";
import { Mounts } from "./mounts/mounts.ts";
import { commonListenerOptions, meetOf, shardOptions, type WorkspaceServerOptions } from "./server-options.ts";
import { listenerOptions, ownViews, workspacesOf } from "./serving/listener.ts";
import { clustersOf } from "./serving/served-shard.ts";
import type { ShardUrls } from "./shard-urls.ts";
import { ProcessShards } from "./shards/process-shards.ts";
import type { Meet } from "./shards/running-shard.ts";
import { Shard } from "./shards/shard.ts";
import { cacheView, loopbackViews } from "./views/cache-view.ts";
import { treeView } from "./views/tree-view.ts";
import type { WebhookClient } from "./webhooks/client.ts";

/**
 * Server of workspaces as in kcp: a tree of logical clusters below `/clusters/root`, each with its own kinds, objects and
 * permissions. {@link createWorkspaceServer} creates it.
 */
export class WorkspaceServer implements AsyncDisposable {
  readonly #options: WorkspaceServerOptions;
  readonly #shard: Shard;
  readonly #shards: ProcessShards | undefined;
  readonly #server: Server;
  readonly #services: OwnServices;
  readonly #itself: Loopback;
  readonly #mounts: Mounts;
  readonly #webhooks: WebhookClient;
  #listening: Listening | undefined;
  readonly #meet: Meet | undefined;
  #peers: AsyncDisposable | undefined;
  #closed: Promise<void> | undefined;

  /** @throws Error on conflicting views */
  constructor(options: WorkspaceServerOptions) {
    const { store, shards, virtualWorkspaces = [] } = options;
    this.#options = options;
    const common = shardOptions(options);
    this.#webhooks = common.webhooks;
    const itself = options.loopback ?? loopback();
    this.#itself = itself;
    this.#mounts = new Mounts({
      registry: common.registry,
      workspaces: itself,
      others: options.mounts ? options.mounts.others : undefined,
      log: options.log,
    });
    const documents = commonListenerOptions(options, common, () => this.#urls().externalURL);
    const listeners = { ...documents, mounts: this.#mounts };
    const services = new OwnServices(options.log, itself);
    this.#services = services;
    const root = new Shard({ ...common, name: ROOT_SHARD, urls: () => this.#urls(), store, services });
    this.#shard = root;
    const meet = meetOf(options);
    this.#meet = meet;
    const all = shards && new ProcessShards({ shards, common, listeners, root, ...(meet && { meet }) });
    this.#shards = all;
    const served = {
      shard: root,
      clusters: all ?? clustersOf(root),
      documents: listeners.documents,
      mounts: this.#mounts,
    };
    const besides = { registry: common.registry, ready: () => root.started, log: options.log };
    const serverOptions = listenerOptions(listeners, {
      ...served,
      root,
      virtualWorkspaces: [...[treeView, cacheView].map((view) => view(besides)), ...virtualWorkspaces],
      checks: {
        store: async ({ signal }) => void (await store.head({ signal })),
        ...(all && { shards: (context) => all.check(context) }),
      },
    });
    this.#server = createServer(serverOptions);
    const own = { ...loopbackViews(ownViews(served), besides), within: this.#server };
    const workspaces = workspacesOf(serverOptions);
    itself.serve(own, { workspaces, shards: all && (() => all.served(() => itself.workspaces)) });
    services.serve({ virtualWorkspaces, urls: () => this.#urls(), log: options.log, within: this.#server });
  }

  /**
   * Listens, and creates the initial objects. Until it resolves, requests for workspaces are 503. It also tries to start the
   * shards besides `root`: a failed start is logged and retried.
   *
   * @throws ApiError 503 when the store cannot be read or written, StoreError `Locked` when another process serves it with
   * other URLs or keys, and the errors of the listener
   */
  async listen(options: ListenOptions): Promise<Listening> {
    this.#listening = await this.#server.listen(options);
    await this.#join();
    await this.#shard.start(() => this.#shards?.begin(options.host ?? "127.0.0.1") ?? Promise.resolve());
    await this.#shards?.start();
    await Promise.all([this.#itself.start(), this.#services.start()]);
    return this.#listening;
  }

  /**
   * Adds a shard while the server runs, as does a Shard object in `root` with the annotation
   * `virtual-workspaces.io/in-process: "true"`. It starts again with the server. Failed starts are retried, also after a throw.
   *
   * @throws ApiError 409 when another server has a shard of that name, Error on an invalid name or without {@link
   * WorkspaceServerOptions.shards}, and the error of a failed start
   */
  async addShard(name: string): Promise<void> {
    await this.#further.add(name);
  }

  /**
   * Removes a shard while the server runs, as does deleting its Shard object. The shard gets no new logical clusters, and
   * stops when its last one is gone; then the promise resolves. Its store stays, for a later shard of that name.
   *
   * @param options.signal ends the wait; the removal continues
   * @throws ApiError 409 for `root` and shards of other servers, Error without {@link WorkspaceServerOptions.shards}, and the
   * reason of `signal`
   */
  async removeShard(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#further.remove(name, options.signal);
  }

  /**
   * Resolves when everything in the store of shard `root` at the time of this call is authorized and served, for callers that
   * write to the store themselves.
   *
   * @throws ApiError 503 when the store cannot be read, and the reason of `signal`
   */
  confirm(options: { readonly signal: AbortSignal }): Promise<void> {
    return this.#shard.confirm(options);
  }

  /** Ends watches cleanly, drains requests in flight, and stops the controllers. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Alias of {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#services.leave();
    // The views of all shards send requests to the workspaces of this one until their end.
    await Promise.all([this.#server.drain(), this.#shards?.closeListeners()]);
    await this.#server.close();
    await Promise.all([this.#mounts[Symbol.asyncDispose](), this.#webhooks[Symbol.asyncDispose]()]);
    await Promise.all([this.#itself[Symbol.asyncDispose](), this.#services[Symbol.asyncDispose]()]);
    await Promise.all([this.#shard.stop(), this.#shards?.stop()]);
    await this.#shards?.[Symbol.asyncDispose]();
    await this.#shard[Symbol.asyncDispose]();
    await this.#peers?.[Symbol.asyncDispose]();
  }

  async #join(): Promise<void> {
    const { store } = this.#options;
    this.#peers = await this.#meet?.({ store, shard: ROOT_SHARD, urls: this.#urls() });
  }

  get #further(): ProcessShards {
    if (this.#shards === undefined)
      throw new Error("this server has only one shard: pass `shards` to createWorkspaceServer to add others");
    return this.#shards;
  }

  #urls(): ShardUrls {
    if (this.#listening === undefined) throw new Error("the server has no URL before it listens: call listen first");
    const { url } = this.#listening;
    return { baseURL: url, externalURL: url, virtualWorkspaceURL: url, ...this.#options.urls?.(this.#listening) };
  }
}

/** Creates a server of workspaces; it serves once `listen` has resolved. @throws Error on conflicting views */
export function createWorkspaceServer(options: WorkspaceServerOptions): WorkspaceServer {
  return new WorkspaceServer(options);
}
