import {
  type Authenticator,
  createServer,
  type Listening,
  type ListenOptions,
  type Log,
  type Metrics,
  type Server,
  type ServerOptions,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { AUTHENTICATED_GROUP, ROOT_SHARD } from "@virtual-workspaces/kcp";
import type { Store } from "@virtual-workspaces/store";
import { cacheView } from "./cache/cache-view.ts";
import type { Loopback } from "./loopback/loopback.ts";
import { accountsOf } from "./service-accounts/accounts-of.ts";
import { serviceAccountTokens } from "./service-accounts/authenticator.ts";
import type { ServiceAccountKeys } from "./service-accounts/keys.ts";
import { DEFAULT_ISSUER, TokenMinter } from "./service-accounts/minter.ts";
import { TokenRequest } from "./service-accounts/reviews/kinds.ts";
import { servedDocuments } from "./service-accounts/served-documents.ts";
import { clustersOf } from "./shard/clusters-view.ts";
import type { ShardUrls } from "./shard/context.ts";
import { Installation } from "./shard/installation.ts";
import { Peers } from "./shard/peers.ts";
import { Shard } from "./shard/shard.ts";
import { type CommonListenerOptions, listenerOptions, ownViews } from "./shards/listener.ts";
import type { ShardsOptions } from "./shards/options.ts";
import { ProcessShards } from "./shards/process-shards.ts";
import type { CommonShardOptions, Meet } from "./shards/running-shard.ts";
import { treeView } from "./tree/tree-view.ts";

/** What a workspace server is made of. */
export interface WorkspaceServerOptions
  extends Pick<ServerOptions, "audit" | "closeDelay" | "closeTimeout" | "metrics" | "onRequest" | "tls"> {
  /** Keeps all objects. The server does not close it. */
  readonly store: Store;
  /**
   * Who asks, besides service accounts: administrators first. kcp lets the nameless in (`anonymous()`), who may then do what
   * roles give to `system:unauthenticated`: nothing but to ask for `/healthz`, unless somebody says otherwise.
   */
  readonly authentication: readonly Authenticator[];
  /** Sign and verify tokens of service accounts. */
  readonly serviceAccountKeys: ServiceAccountKeys;
  /** Whose tokens of service accounts are taken; the first of them issues. @default kcp's */
  readonly serviceAccountIssuers?: readonly string[];
  /**
   * What the first issuer's `/.well-known/openid-configuration` says about where its keys are
   * (`--service-account-jwks-uri`), where they are served elsewhere than by this server. @default in the same workspace
   */
  readonly serviceAccountKeysUrl?: string;
  /** PEM by which clients trust the server. */
  readonly rootCa: () => string;
  /** What tokens are for that say nothing else (`--api-audiences`). @default the issuers */
  readonly audiences?: readonly string[];
  /** How it is reached, from where it listens. @default there */
  readonly urls?: (listening: Listening) => Partial<ShardUrls>;
  /** Shards besides `root`, in this process; more may come and go while it runs. @default none, and none can be added */
  readonly shards?: ShardsOptions;
  /**
   * Whether users have workspaces of their own, made when they first ask for `workspaces/~` in `root`
   * (`--enable-home-workspaces`), and members of which groups may
   * (`--home-workspaces-home-creator-groups`). Who has one keeps it. @default all who have logged in
   */
  readonly homeWorkspaces?: false | { readonly creatorGroups: readonly string[] };
  /**
   * Where several processes serve one store, as etcd's: a name of this one, the same whenever it starts again. All must have
   * the same URLs, root CA and keys, since each writes them into objects; one that differs from those that are there does not
   * start. So it is with each of {@link WorkspaceServerOptions.shards}. @default it is the only one
   */
  readonly instance?: string;
  /**
   * How many objects of all kinds there may be in a workspace (`--logical-cluster-total-object-limit`), but for `root`, and
   * for those whose LogicalCluster has another number in the annotation `core.kcp.io/max-total-objects`, which administrators
   * of the server set; 0 is none. @default as many as one likes: one workspace can fill the store for all
   */
  readonly totalObjectLimit?: number;
  /** Served besides, below `/services`. */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
  /** By which these views reach the workspaces. The server closes it. @default none */
  readonly loopback?: Loopback;
  /** What is served at `/metrics`, and to whom. @default to whom the roles of `root` allow it, as in kcp */
  readonly metrics?: Metrics;
  readonly log: Log;
}

const EVERYBODY = { creatorGroups: [AUTHENTICATED_GROUP] };

/**
 * Workspaces, as kcp serves them: a tree of logical clusters below `/clusters/root`, each with kinds, objects and permissions
 * of its own. Made by {@link createWorkspaceServer}.
 */
export class WorkspaceServer implements AsyncDisposable {
  readonly #options: WorkspaceServerOptions;
  readonly #shard: Shard;
  readonly #shards: ProcessShards | undefined;
  readonly #server: Server;
  #listening: Listening | undefined;
  readonly #meet: Meet | undefined;
  #peers: AsyncDisposable | undefined;
  #closed: Promise<void> | undefined;

  /** @throws Error on views that clash */
  constructor(options: WorkspaceServerOptions) {
    const { store, shards, virtualWorkspaces = [] } = options;
    this.#options = options;
    const common = shardOptions(options);
    const listeners = commonListenerOptions(options, {
      authentication: common.authenticators,
      documents: documentsOf(options, () => this.#urls().externalURL),
    });
    const root = new Shard({ ...common, name: ROOT_SHARD, urls: () => this.#urls(), store });
    this.#shard = root;
    const meet = meetOf(options);
    this.#meet = meet;
    const all = shards && new ProcessShards({ shards, common, listeners, root, ...(meet && { meet }) });
    this.#shards = all;
    const served = { shard: root, clusters: all ?? clustersOf(root), documents: listeners.documents };
    options.loopback?.serve({ ...ownViews(served), log: options.log });
    this.#server = createServer(
      listenerOptions(listeners, {
        ...served,
        root,
        virtualWorkspaces: [
          ...[treeView, cacheView].map((view) =>
            view({ installation: common.installation, ready: () => root.started, log: options.log }),
          ),
          ...virtualWorkspaces,
        ],
        checks: {
          store: async ({ signal }) => void (await store.head({ signal })),
          ...(all && { shards: (context) => all.check(context) }),
        },
      }),
    );
  }

  /**
   * Listens, and makes what is to be there from the start. Until it resolves requests for workspaces are 503. Shards besides
   * `root` have been tried by then: one that does not start is logged, and tried again.
   *
   * @throws ApiError 503 when the store cannot be read or written, StoreError `Locked` when another process serves it with
   * other URLs or keys, and what the listener throws
   */
  async listen(options: ListenOptions): Promise<Listening> {
    this.#listening = await this.#server.listen(options);
    await this.#join();
    await this.#shard.start(() => this.#shards?.begin(options.host ?? "127.0.0.1") ?? Promise.resolve());
    await this.#shards?.start();
    await this.#options.loopback?.start();
    return this.#listening;
  }

  /**
   * Adds a shard while the server runs, as its Shard object in `root` does that has the annotation
   * `virtual-workspaces.io/in-process: "true"`. It is there again when the server starts the next time. One that does not start is tried again, also when this has failed.
   *
   * @throws ApiError 409 when another server has a shard of that name, Error on a name that is none and without
   *   {@link WorkspaceServerOptions.shards}, and what keeps it from starting
   */
  async addShard(name: string): Promise<void> {
    await this.#further.add(name);
  }

  /**
   * Removes a shard while the server runs, as deleting its Shard object does: nothing new is put there from now on, and when
   * the last logical cluster is gone it stops, and the promise resolves. Its store stays, for a shard of that name that may come again.
   *
   * @param options.signal ends the waiting; the shard goes all the same
   * @throws ApiError 409 for `root` and shards of other servers, Error without {@link WorkspaceServerOptions.shards}, and
   *   what `signal` aborts with
   */
  async removeShard(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#further.remove(name, options.signal);
  }

  /** Ends watches cleanly, lets requests under way finish, and stops the controllers. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await Promise.all([this.#server.close(), this.#shards?.closeListeners()]);
    await this.#options.loopback?.[Symbol.asyncDispose]();
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
      throw new Error("this server has one shard: give `shards` to createWorkspaceServer to add others");
    return this.#shards;
  }

  #urls(): ShardUrls {
    if (this.#listening === undefined) throw new Error("the server does not listen yet: nobody can know where it is");
    const { url } = this.#listening;
    return { baseURL: url, externalURL: url, virtualWorkspaceURL: url, ...this.#options.urls?.(this.#listening) };
  }
}

/** How processes that serve the same shards know of each other. */
function meetOf({ instance, rootCa, serviceAccountKeys: keys, log }: WorkspaceServerOptions): Meet | undefined {
  if (instance === undefined) return undefined;
  return ({ store, shard, urls }) =>
    Peers.join({ store, shard, instance, alike: { urls, rootCa: rootCa(), keys }, log });
}

/** What all shards have in common. */
function shardOptions(options: WorkspaceServerOptions): CommonShardOptions {
  const { authentication, serviceAccountKeys: keys, rootCa, homeWorkspaces = EVERYBODY, log } = options;
  const installation = new Installation({ runsShards: options.shards !== undefined });
  const accounts = accountsOf(installation);
  const issuers = options.serviceAccountIssuers ?? [DEFAULT_ISSUER];
  const { audiences = issuers } = options;
  const tokens = serviceAccountTokens({ keys, accounts, issuers, audiences });
  const minter = new TokenMinter({ keys, issuer: issuers[0] ?? DEFAULT_ISSUER });
  const token = { kind: TokenRequest, minter, accounts, audiences };
  return {
    installation,
    authenticators: [...authentication, tokens],
    audiences,
    rootCa,
    token,
    ...(options.totalObjectLimit !== undefined && { totalObjectLimit: options.totalObjectLimit }),
    ...(homeWorkspaces && { homeCreators: homeWorkspaces.creatorGroups }),
    log,
  };
}

function documentsOf(
  { serviceAccountKeys: keys, serviceAccountKeysUrl: keysUrl, serviceAccountIssuers }: WorkspaceServerOptions,
  externalURL: () => string,
): CommonListenerOptions["documents"] {
  return servedDocuments({ keys, issuer: serviceAccountIssuers?.[0] ?? DEFAULT_ISSUER, keysUrl, externalURL });
}

function commonListenerOptions(
  { audit, closeDelay, closeTimeout, metrics, onRequest, tls, log }: WorkspaceServerOptions,
  shared: Pick<CommonListenerOptions, "authentication" | "documents">,
): CommonListenerOptions {
  return {
    ...shared,
    log,
    ...(audit && { audit }),
    ...(closeDelay !== undefined && { closeDelay }),
    ...(closeTimeout !== undefined && { closeTimeout }),
    ...(metrics && { metrics }),
    ...(onRequest && { onRequest }),
    ...(tls && { tls }),
  };
}

/** A server of workspaces; it serves once `listen` has resolved. @throws Error on views that clash */
export function createWorkspaceServer(options: WorkspaceServerOptions): WorkspaceServer {
  return new WorkspaceServer(options);
}
