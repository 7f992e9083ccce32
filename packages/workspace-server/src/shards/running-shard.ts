import { createServer, type Server, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Listening, ListenOptions } from "@virtual-workspaces/framework/server";
import { register } from "../bootstrap/bootstrap.ts";
import { type Loopback, loopback } from "../loopback/loopback.ts";
import { OwnServices } from "../loopback/own-services.ts";
import { auditOf, type CommonListenerOptions, listenerOptions, ownViews, workspacesOf } from "../serving/listener.ts";
import { clustersOf } from "../serving/served-shard.ts";
import type { ShardUrls } from "../shard-urls.ts";
import { loopbackViews } from "../views/cache-view.ts";
import type { ShardsOptions } from "./options.ts";
import type { ReplicasOptions } from "./replicas.ts";
import { Shard, type ShardOptions } from "./shard.ts";

/** Options that all shards of a process share. */
export type CommonShardOptions = Omit<ShardOptions, "name" | "urls" | "store" | "services">;

/** Options of a further shard. */
export interface RunningShardOptions {
  readonly name: string;
  readonly shards: ShardsOptions;
  readonly common: CommonShardOptions;
  readonly listeners: CommonListenerOptions;
  readonly root: Shard;
  /** Announces the shard to other processes that serve it. @throws ReplicaMismatch */
  readonly meet?: Meet;
  /** Default host of the listener. */
  readonly host: string;
  /** Called when the shard has joined the registry; the start waits for it. */
  readonly joined: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Announces that a process serves a shard, until disposed. @throws ReplicaMismatch when another one has other settings */
export type Meet = (
  shard: Pick<ReplicasOptions, "store" | "shard"> & { readonly urls: ShardUrls },
) => Promise<AsyncDisposable>;

/** A shard besides `root`: its store, objects, controllers and listener. */
export class RunningShard implements AsyncDisposable {
  readonly shard: Shard;
  readonly #itself: Loopback;
  readonly #server: Server;
  readonly #controllers: AsyncDisposableStack;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    shard: Shard,
    { server, itself }: { readonly server: Server; readonly itself: Loopback },
    stacks: Record<"controllers" | "stack", AsyncDisposableStack>,
  ) {
    this.shard = shard;
    this.#itself = itself;
    this.#server = server;
    this.#controllers = stacks.controllers;
    this.#stack = stacks.stack;
  }

  /** @throws the errors of the store or the listener; then nothing stays open */
  static async start(options: RunningShardOptions): Promise<RunningShard> {
    const { name, shards, common, root, signal } = options;
    const stack = new AsyncDisposableStack();
    try {
      const store = await shards.storeOf(name, { own: stack, signal });
      const others = stack.use(new AsyncDisposableStack());
      let listening: Listening | undefined;
      const urls = (): ShardUrls => urlsOf(options, listening);
      const itself = loopback();
      const services = stack.use(new OwnServices(common.log, itself));
      const shard = stack.use(new Shard({ ...common, name, store, urls, services }));
      const { audit, ...listeners } = options.listeners;
      const ownAudit = auditOf(audit, name);
      stack.use(itself);
      const { promise, resolve: listens } = Promise.withResolvers<Listening>();
      const controllers = stack.use(new AsyncDisposableStack());
      const viewsContext = { own: stack, controllers, signal, loopback: itself, listening: promise };
      const virtualWorkspaces = (await shards.virtualWorkspaces?.(name, viewsContext)) ?? [];
      const { documents, mounts } = listeners;
      const served = { shard, clusters: clustersOf(shard), documents, mounts };
      const serverOptions = listenerOptions(
        { ...listeners, ...(ownAudit && { audit: ownAudit }) },
        { ...served, root, virtualWorkspaces, checks: { store: async (context) => void (await store.head(context)) } },
      );
      const server = stack.use(createServer(serverOptions));
      const { registry, log } = common;
      const own = loopbackViews(ownViews(served), { registry, ready: () => root.started, log });
      itself.serve({ ...own, within: server }, { workspaces: workspacesOf(serverOptions) });
      stack.defer(() => services.leave());
      services.serve({ virtualWorkspaces, urls, log, within: server });
      stack.defer(() => controllers.disposeAsync()); // before the listener, which they call
      listening = await listenAt(server, placeOf(options));
      listens(listening);
      if (options.meet !== undefined) others.use(await options.meet({ store, shard: name, urls: urls() }));
      // Before clients can find it: workspaces scheduled to it need its address.
      await register(root.context, shard.context);
      await shard.start(options.joined);
      // Shards know each other's content once `root` has started, which may wait for this one.
      await Promise.all([itself.start(root.started), services.start()]);
      signal.throwIfAborted();
      return new RunningShard(shard, { server, itself }, { controllers, stack });
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  /** The workspaces of the shard, as at its own address. */
  get workspaces(): VirtualWorkspace {
    return this.#itself.workspaces;
  }

  /** Fails when the shard does not work, above all its store. */
  async check({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.shard.context.objects.store.head({ signal });
  }

  /** Ends watches cleanly and drains requests in flight; the shard itself keeps running. */
  async closeListener(): Promise<void> {
    await this.#controllers.disposeAsync();
    this.shard.context.services?.leave();
    await this.#server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Falls back to a free port: clients find the address in the Shard object. */
async function listenAt(server: Server, place: ListenOptions): Promise<Listening> {
  try {
    return await server.listen(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return server.listen({ ...place, port: 0 });
  }
}

function placeOf({ name, shards, host }: RunningShardOptions): ListenOptions {
  return shards.listen?.(name) ?? { port: 0, host };
}

function urlsOf({ name, shards, root }: RunningShardOptions, listening: Listening | undefined): ShardUrls {
  if (listening === undefined) throw new Error(`shard ${name} has no URL before it listens`);
  const { url } = listening;
  const { externalURL } = root.context.urls;
  return { baseURL: url, externalURL, virtualWorkspaceURL: url, ...shards.urls?.(name, listening) };
}
