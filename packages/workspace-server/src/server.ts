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
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import type { Store } from "@virtual-workspaces/store";
import { workspaceImpersonation } from "./authz/impersonation.ts";
import type { Loopback } from "./loopback/loopback.ts";
import { accountsOf } from "./service-accounts/accounts-of.ts";
import { serviceAccountTokens } from "./service-accounts/authenticator.ts";
import { inClusterUrl } from "./service-accounts/in-cluster.ts";
import type { ServiceAccountKeys } from "./service-accounts/keys.ts";
import { DEFAULT_ISSUER, TokenMinter } from "./service-accounts/minter.ts";
import { TokenRequest } from "./service-accounts/reviews/kinds.ts";
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
  /** PEM by which clients trust the server. */
  readonly rootCa: () => string;
  /** What tokens are for that say nothing else (`--api-audiences`). @default the issuers */
  readonly audiences?: readonly string[];
  /** How it is reached, from where it listens. @default there */
  readonly urls?: (listening: Listening) => Partial<ShardUrls>;
  /** Served besides, below `/services`. */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
  /** By which these views reach the workspaces. The server closes it. @default none */
  readonly loopback?: Loopback;
  /** What is served at `/metrics`, and to whom. @default to whom the roles of `root` allow it, as in kcp */
  readonly metrics?: Metrics;
  readonly log: Log;
}

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
    const { store, authentication, serviceAccountKeys: keys, log } = options;
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
      log,
    });
    const { audit, closeDelay, closeTimeout, onRequest, tls } = options;
    const impersonation = workspaceImpersonation(this.#shard.authorizer);
    options.loopback?.serve({
      virtualWorkspaces: [clustersView(this.#shard), rootView(this.#shard)],
      impersonation,
      log,
    });
    this.#server = createServer({
      virtualWorkspaces: [clustersView(this.#shard), ...(options.virtualWorkspaces ?? []), rootView(this.#shard)],
      authentication: authenticators,
      retarget: inClusterUrl,
      metrics: options.metrics ?? metrics({ authorize: metricsAccess(this.#shard) }),
      impersonation,
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
    await this.#options.loopback?.start();
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
    await this.#options.loopback?.[Symbol.asyncDispose]();
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
