import {
  type Authenticator,
  createServer,
  type Listening,
  type ListenOptions,
  type Log,
  type Metrics,
  metrics,
  type Server,
  type ServerOptions,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { AUTHENTICATED_GROUP, ROOT_SHARD } from "@virtual-workspaces/kcp";
import type { Store } from "@virtual-workspaces/store";
import { workspaceImpersonation } from "./authz/impersonation.ts";
import { accountsOf } from "./service-accounts/accounts-of.ts";
import { serviceAccountTokens } from "./service-accounts/authenticator.ts";
import { inClusterUrl } from "./service-accounts/in-cluster.ts";
import type { ServiceAccountKeys } from "./service-accounts/keys.ts";
import { DEFAULT_ISSUER, TokenMinter } from "./service-accounts/minter.ts";
import { TokenRequest } from "./service-accounts/reviews/kinds.ts";
import { servedDocuments } from "./service-accounts/served-documents.ts";
import { clustersView } from "./shard/clusters-view.ts";
import type { ShardUrls } from "./shard/context.ts";
import { Installation } from "./shard/installation.ts";
import { metricsAccess, rootView } from "./shard/root-view.ts";
import { Shard } from "./shard/shard.ts";

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
  /**
   * Whether users have workspaces of their own, made when they first ask for `workspaces/~` in `root`
   * (`--enable-home-workspaces`), and members of which groups may
   * (`--home-workspaces-home-creator-groups`). Who has one keeps it. @default all who have logged in
   */
  readonly homeWorkspaces?: false | { readonly creatorGroups: readonly string[] };
  /**
   * How many objects of all kinds there may be in a workspace (`--logical-cluster-total-object-limit`), but for `root`, and
   * for those whose LogicalCluster has another number in the annotation `core.kcp.io/max-total-objects`, which administrators
   * of the server set; 0 is none. @default as many as one likes: one workspace can fill the store for all
   */
  readonly totalObjectLimit?: number;
  /** Served besides, below `/services`. */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
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
  readonly #server: Server;
  #listening: Listening | undefined;
  #closed: Promise<void> | undefined;

  /** @throws Error on views that clash */
  constructor(options: WorkspaceServerOptions) {
    const { store, authentication, serviceAccountKeys: keys, log, homeWorkspaces = EVERYBODY } = options;
    this.#options = options;
    const installation = new Installation();
    const accounts = accountsOf(installation);
    const issuers = options.serviceAccountIssuers ?? [DEFAULT_ISSUER];
    const { audiences = issuers } = options;
    const tokens = serviceAccountTokens({ keys, accounts, issuers, audiences });
    const authenticators = [...authentication, tokens];
    const minter = new TokenMinter({ keys, issuer: issuers[0] ?? DEFAULT_ISSUER });
    this.#shard = new Shard({
      name: ROOT_SHARD,
      urls: () => this.#urls(),
      store,
      installation,
      authenticators,
      audiences,
      rootCa: options.rootCa,
      token: { kind: TokenRequest, minter, accounts, audiences },
      ...(options.totalObjectLimit !== undefined && { totalObjectLimit: options.totalObjectLimit }),
      ...(homeWorkspaces && { homeCreators: homeWorkspaces.creatorGroups }),
      log,
    });
    const documents = servedDocuments({
      keys,
      issuer: issuers[0] ?? DEFAULT_ISSUER,
      keysUrl: options.serviceAccountKeysUrl,
      externalURL: () => this.#urls().externalURL,
    });
    const { audit, closeDelay, closeTimeout, onRequest, tls } = options;
    this.#server = createServer({
      virtualWorkspaces: [
        clustersView(this.#shard, { documents }),
        ...(options.virtualWorkspaces ?? []),
        rootView(this.#shard, { documents }),
      ],
      authentication: authenticators,
      retarget: inClusterUrl,
      metrics: options.metrics ?? metrics({ authorize: metricsAccess(this.#shard) }),
      impersonation: workspaceImpersonation(this.#shard.authorizer),
      log,
      checks: { store: async ({ signal }) => void (await store.head({ signal })) },
      ...(audit && { audit }),
      ...(closeDelay !== undefined && { closeDelay }),
      ...(closeTimeout !== undefined && { closeTimeout }),
      ...(onRequest && { onRequest }),
      ...(tls && { tls }),
    });
  }

  /**
   * Listens, and makes what is to be there from the start. Until it resolves requests for workspaces are 503.
   *
   * @throws ApiError 503 when the store cannot be read or written, and what the listener throws
   */
  async listen(options: ListenOptions): Promise<Listening> {
    this.#listening = await this.#server.listen(options);
    await this.#shard.start();
    return this.#listening;
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
    await this.#server.close();
    await this.#shard[Symbol.asyncDispose]();
  }

  #urls(): ShardUrls {
    if (this.#listening === undefined) throw new Error("the server does not listen yet: nobody can know where it is");
    const { url } = this.#listening;
    return { baseURL: url, externalURL: url, virtualWorkspaceURL: url, ...this.#options.urls?.(this.#listening) };
  }
}

/** A server of workspaces; it serves once `listen` has resolved. @throws Error on views that clash */
export function createWorkspaceServer(options: WorkspaceServerOptions): WorkspaceServer {
  return new WorkspaceServer(options);
}
