import type { Authenticator, ServerOptions, VirtualWorkspace } from "@virtual-workspaces/framework";
import type { JwtSettings } from "@virtual-workspaces/framework/authn";
import type { Listening, Log, Metrics } from "@virtual-workspaces/framework/server";
import { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import { AUTHENTICATED_GROUP } from "@virtual-workspaces/kcp/users";
import type { Store } from "@virtual-workspaces/store";
import type { Loopback } from "./loopback/loopback.ts";
import type { MountsOptions } from "./mounts/targets.ts";
import { accountsOf } from "./service-accounts/accounts-of.ts";
import type { CommonListenerOptions } from "./serving/listener.ts";
import type { ShardUrls } from "./shard-urls.ts";
import type { ShardsOptions } from "./shards/options.ts";
import { Replicas } from "./shards/replicas.ts";
import type { CommonShardOptions, Meet } from "./shards/running-shard.ts";
import { ShardRegistry } from "./state/shard-registry.ts";
import { serviceAccountTokens } from "./tokens/authenticator.ts";
import { servedDocuments } from "./tokens/documents.ts";
import type { ServiceAccountKeys } from "./tokens/keys.ts";
import { DEFAULT_ISSUER, TokenMinter } from "./tokens/minter.ts";
import { TokenRequest } from "./tokens/token-request.ts";
import type { VirtualStorageOptions } from "./virtual-storage/virtual-storage.ts";

/** How the issuers are asked that workspace types name. */
export interface WorkspaceAuthenticationOptions extends Omit<JwtSettings, "log"> {}

/** What a workspace server is made of. */
export interface WorkspaceServerOptions
  extends Pick<
    ServerOptions,
    "audit" | "closeDelay" | "closeTimeout" | "metrics" | "onRequest" | "authenticationFailures" | "tls"
  > {
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
  /**
   * Whether APIExports say in `status.virtualWorkspaces` at which URLs their view is, one for each shard, with the condition
   * `VirtualWorkspaceURLsReady` (kcp's feature gate `EnableDeprecatedAPIExportVirtualWorkspacesUrls`, which is off there): for
   * clients from before APIExportEndpointSlices, which say the same and more. Where it is turned off both are taken away.
   *
   * @default true
   */
  readonly exportURLs?: boolean;
  /**
   * Whether views may keep resources of exports (`spec.resources[].storage.virtual`, kcp's feature gate `CacheAPIs`), and by what views
   * at other servers are asked: with whom their URLs may lead to, since those are what a workspace says. `false`: such resources
   * are bound, and 404. @default views that this server runs, and no others
   */
  readonly virtualStorage?: false | VirtualStorageOptions;
  /**
   * Whether workspaces may be mounted (`spec.mount`, kcp's feature gate `WorkspaceMounts`, which is off there), and how other servers are
   * asked on which they are. `false`: those that are say so in their condition `WorkspaceMountReady`, and are Unavailable. Where they
   * lead says a controller, `workspaceMounts` of `@virtual-workspaces/mounts`: where none runs they stay as they are.
   *
   * @default they may, on views and workspaces of this server alone: others are 503, with the reason
   */
  readonly mounts?: false | MountsOptions;
  /**
   * Has workspaces open to those whom the issuers know that their type names (WorkspaceType's
   * `spec.authenticationConfigurations`, kcp's feature gate `WorkspaceAuthentication`), and says how these are
   * asked: whoever may make a workspace may have the server send GET requests to any https URL, unless `dial` says where not.
   * Their users are confined to the workspace that they log in to.
   *
   * @default nobody logs in by the type of a workspace
   */
  readonly workspaceAuthentication?: false | WorkspaceAuthenticationOptions;
  /** Served besides, below `/services`. */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
  /** By which these views reach the workspaces. The server closes it. @default none */
  readonly loopback?: Loopback;
  /** What is served at `/metrics`, and to whom. @default to whom the roles of `root` allow it, as in kcp */
  readonly metrics?: Metrics;
  readonly log: Log;
}

const EVERYBODY = { creatorGroups: [AUTHENTICATED_GROUP] };

/** What all shards have in common. */
export function shardOptions(options: WorkspaceServerOptions): CommonShardOptions {
  const { authentication, serviceAccountKeys: keys, rootCa, homeWorkspaces = EVERYBODY, log } = options;
  const { workspaceAuthentication: logins } = options;
  const registry = new ShardRegistry({
    runsShards: options.shards !== undefined,
    ...(logins && { authentication: new WorkspaceAuthentication({ ...logins, log }) }),
  });
  const accounts = accountsOf(registry);
  const issuers = options.serviceAccountIssuers ?? [DEFAULT_ISSUER];
  const { audiences = issuers } = options;
  const tokens = serviceAccountTokens({ keys, accounts, issuers, audiences });
  const minter = new TokenMinter({ keys, issuer: issuers[0] ?? DEFAULT_ISSUER });
  const token = { kind: TokenRequest, minter, accounts, audiences };
  return {
    registry,
    authenticators: [...authentication, tokens],
    audiences,
    rootCa,
    token,
    ...(options.totalObjectLimit !== undefined && { totalObjectLimit: options.totalObjectLimit }),
    ...(options.exportURLs !== undefined && { virtualWorkspaceURLs: options.exportURLs }),
    ...(options.virtualStorage !== undefined && { virtualStorage: options.virtualStorage }),
    mounts: options.mounts !== false,
    ...(homeWorkspaces && { homeCreators: homeWorkspaces.creatorGroups }),
    log,
  };
}

/** What all their listeners have in common. */
export function commonListenerOptions(
  options: WorkspaceServerOptions,
  { authenticators: authentication }: CommonShardOptions,
  externalURL: () => string,
): Omit<CommonListenerOptions, "mounts"> {
  const { serviceAccountKeys: keys, serviceAccountKeysUrl: keysUrl, serviceAccountIssuers } = options;
  const { audit, closeDelay, closeTimeout, metrics, onRequest, authenticationFailures, tls, log } = options;
  return {
    authentication,
    documents: servedDocuments({ keys, issuer: serviceAccountIssuers?.[0] ?? DEFAULT_ISSUER, keysUrl, externalURL }),
    log,
    ...(audit && { audit }),
    ...(closeDelay !== undefined && { closeDelay }),
    ...(closeTimeout !== undefined && { closeTimeout }),
    ...(metrics && { metrics }),
    ...(onRequest && { onRequest }),
    ...(authenticationFailures && { authenticationFailures }),
    ...(tls && { tls }),
  };
}

/** How processes that serve the same shards know of each other. */
export function meetOf({ instance, rootCa, serviceAccountKeys: keys, log }: WorkspaceServerOptions): Meet | undefined {
  if (instance === undefined) return undefined;
  return ({ store, shard, urls }) =>
    Replicas.join({ store, shard, instance, alike: { urls, rootCa: rootCa(), keys }, log });
}
