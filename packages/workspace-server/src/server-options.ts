import type { Authenticator, ServerOptions, VirtualWorkspace } from "@virtual-workspaces/framework";
import type { JwtSettings } from "@virtual-workspaces/framework/authn";
import type { Component, Listening, Log, MetricFamily, Metrics } from "@virtual-workspaces/framework/server";
import { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import { AUTHENTICATED_GROUP, inClusterAtRoot, inClusterUrl } from "@virtual-workspaces/kcp/users";
import type { Store } from "@virtual-workspaces/store";
import type { Clock } from "@virtual-workspaces/transport";
import type { AuthorizationOptions } from "./authz/authorizer.ts";
import type { Loopback } from "./loopback/loopback.ts";
import type { MountsOptions } from "./mounts/targets.ts";
import { QuotaMeter } from "./quotas/quota-meter.ts";
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
import { type AdmissionWebhooksOptions, WebhookClient } from "./webhooks/client.ts";

/** Requests to the issuers that workspace types name. */
export interface WorkspaceAuthenticationOptions extends Omit<JwtSettings, "log"> {}

/** Time of a workspace server. */
export interface ServerClock extends Clock {
  /** Returns the date, ms since 1970. */
  date(): number;
}

/** Options of a workspace server. */
export interface WorkspaceServerOptions
  extends Pick<
    ServerOptions,
    | "audit"
    | "closeDelay"
    | "closeTimeout"
    | "corsAllowedOrigins"
    | "intercept"
    | "metrics"
    | "onRequest"
    | "pages"
    | "authenticationFailures"
    | "tls"
  > {
  /**
   * Returns the logical cluster that requests outside `/clusters` and `/services` are for, so that the server's URL works as
   * that of a single Kubernetes cluster. Called for each request. A service account's token selects its own logical cluster.
   * @default none, as in kcp
   */
  readonly clusterAtRoot?: () => string | undefined;
  /**
   * Time of service account tokens, and of delays and backoff of controllers. Timestamps of objects, and time limits of
   * requests and watches, are the machine's.
   * @default the machine's
   */
  readonly clock?: ServerClock;
  /** Returns additional metric families, on every scrape. Labels must not contain data of callers. @default none */
  readonly families?: () => readonly MetricFamily[];
  /** Store of all objects. The server does not close it. */
  readonly store: Store;
  /**
   * Authenticators besides service accounts, those of administrators first. kcp accepts anonymous requests (`anonymous()`),
   * with the roles of `system:unauthenticated`: `/healthz` only, unless an administrator grants more.
   */
  readonly authentication: readonly Authenticator[];
  /** Authorizers of requests in workspaces, such as webhooks, besides RBAC. @default kcp's order without a webhook */
  readonly authorization?: AuthorizationOptions;
  /** Keys that sign and verify tokens of service accounts. */
  readonly serviceAccountKeys: ServiceAccountKeys;
  /** Accepted issuers of service account tokens; the first one issues. @default kcp's */
  readonly serviceAccountIssuers?: readonly string[];
  /**
   * URL of the keys in the first issuer's configuration, if another server serves them (`--service-account-jwks-uri`).
   * @default in the same workspace
   */
  readonly serviceAccountKeysUrl?: string;
  /** CA certificate with which clients verify the server, PEM. */
  readonly rootCa: () => string;
  /** Audiences of tokens that name none (`--api-audiences`). @default the issuers */
  readonly audiences?: readonly string[];
  /** Returns public URLs of the server, from its listening address. @default that address */
  readonly urls?: (listening: Listening) => Partial<ShardUrls>;
  /** Further shards in this process besides `root`, which may change while it runs. @default none, and none can be added */
  readonly shards?: ShardsOptions;
  /**
   * Whether users get a home workspace when they first request `workspaces/~` in `root` (`--enable-home-workspaces`), and
   * members of which groups do (`--home-workspaces-home-creator-groups`). Existing ones stay.
   * @default all authenticated users
   */
  readonly homeWorkspaces?: false | { readonly creatorGroups: readonly string[] };
  /**
   * Name of this process among several on one store, such as etcd; it must be the same after a restart. All must have the
   * same URLs, root CA and keys, which each writes into objects: a process that differs does not start. The same holds for
   * each of {@link WorkspaceServerOptions.shards}.
   * @default the only process
   */
  readonly instance?: string;
  /**
   * Maximum of objects of all kinds in a workspace (`--logical-cluster-total-object-limit`); `root` has none. The annotation
   * `core.kcp.io/max-total-objects` of a LogicalCluster overrides it; 0 is unlimited.
   * @default unlimited: one workspace can fill the store for all
   */
  readonly totalObjectLimit?: number;
  /**
   * Whether APIExports list the URLs of their view, one per shard, in `status.virtualWorkspaces`, with the condition
   * `VirtualWorkspaceURLsReady` (kcp's feature gate `EnableDeprecatedAPIExportVirtualWorkspacesUrls`, off there). For
   * clients older than APIExportEndpointSlices, which contain the same and more. `false` removes both.
   *
   * @default true
   */
  readonly exportURLs?: boolean;
  /**
   * Whether views may store resources of exports (`spec.resources[].storage.virtual`, kcp's feature gate `CacheAPIs`), and
   * how other servers' views are called. Security: workspaces set their URLs, which the options must restrict. `false`:
   * such resources are bound, and 404.
   * @default only views that this server runs
   */
  readonly virtualStorage?: false | VirtualStorageOptions;
  /**
   * Whether every workspace has ClusterCachedResources and their endpoint slices, with controllers (kcp's feature gate
   * `CacheAPIs`). `replicationView` of `@virtual-workspaces/apiexport` serves their objects.
   * @default false, the kinds are stored without effect where users bind their export
   */
  readonly cachedResources?: boolean;
  /**
   * Whether workspaces may be mounted (`spec.mount`, kcp's feature gate `WorkspaceMounts`, off there), and calls of other
   * servers as targets. `false`: mounted workspaces are Unavailable, with the reason in condition `WorkspaceMountReady`.
   * The controller `workspaceMounts` of `@virtual-workspaces/mounts` sets the targets; without it, nothing changes.
   * @default enabled, for views and workspaces of this server only: others are 503, with the reason
   */
  readonly mounts?: false | MountsOptions;
  /**
   * Calls of the webhooks that MutatingWebhookConfigurations and ValidatingWebhookConfigurations name.
   * @default webhooks cannot be called: their failure policies decide
   */
  readonly admissionWebhooks?: AdmissionWebhooksOptions;
  /**
   * Lets users of the issuers that a workspace's type names log in to it (WorkspaceType's
   * `spec.authenticationConfigurations`, kcp's feature gate `WorkspaceAuthentication`). The options control requests to those issuers.
   * Security: users who may create a workspace can make the server send GET requests to any https URL, unless `dial` limits
   * them. The issuers' users have access to that workspace only.
   * @default issuers of workspace types are ignored
   */
  readonly workspaceAuthentication?: false | WorkspaceAuthenticationOptions;
  /** Further views, below `/services`. */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
  /** Connection of these views to the workspaces. The server closes it. @default none */
  readonly loopback?: Loopback;
  /** Content and readers of `/metrics`. @default readers by the roles of `root`, as in kcp */
  readonly metrics?: Metrics;
  /** Pages `/statusz` and `/flagz` of the process, for readers by the roles of `root`. @default none */
  readonly component?: Omit<Component, "authorize">;
  readonly log: Log;
}

const EVERYBODY = { creatorGroups: [AUTHENTICATED_GROUP] };

/** Returns the options that all shards share. */
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
  const { clock } = options;
  const now = clock === undefined ? Date.now : () => clock.date();
  const tokens = serviceAccountTokens({ keys, accounts, issuers, audiences, now });
  const minter = new TokenMinter({ keys, issuer: issuers[0] ?? DEFAULT_ISSUER, now });
  const token = { kind: TokenRequest, minter, accounts, audiences };
  return {
    registry,
    authenticators: [...authentication, tokens],
    audiences,
    rootCa,
    token,
    ...(options.totalObjectLimit !== undefined && { totalObjectLimit: options.totalObjectLimit }),
    ...(options.exportURLs !== undefined && { virtualWorkspaceURLs: options.exportURLs }),
    ...(options.cachedResources !== undefined && { cachedResources: options.cachedResources }),
    ...(options.virtualStorage !== undefined && { virtualStorage: options.virtualStorage }),
    ...(options.authorization !== undefined && { authorization: options.authorization }),
    mounts: options.mounts !== false,
    webhooks: new WebhookClient({ calls: options.admissionWebhooks, log }),
    quotaMeter: new QuotaMeter(),
    ...(clock !== undefined && { clock }),
    ...(homeWorkspaces && { homeCreators: homeWorkspaces.creatorGroups }),
    log,
  };
}

/** Returns the options that all listeners share. */
export function commonListenerOptions(
  options: WorkspaceServerOptions,
  { authenticators: authentication, webhooks, quotaMeter }: CommonShardOptions,
  externalURL: () => string,
): Omit<CommonListenerOptions, "mounts"> {
  const { serviceAccountKeys: keys, serviceAccountKeysUrl: keysUrl, serviceAccountIssuers } = options;
  const { audit, closeDelay, closeTimeout, metrics, component, onRequest, authenticationFailures, tls, log } = options;
  const { intercept, clusterAtRoot, corsAllowedOrigins, families, pages } = options;
  return {
    authentication,
    retarget: (request) => inClusterUrl(request) ?? (clusterAtRoot && inClusterAtRoot(request, clusterAtRoot())),
    documents: servedDocuments({ keys, issuer: serviceAccountIssuers?.[0] ?? DEFAULT_ISSUER, keysUrl, externalURL }),
    viewMetrics: () => [...webhooks.meter.families(), ...quotaMeter.families(), ...(families?.() ?? [])],
    log,
    ...(audit && { audit }),
    ...(closeDelay !== undefined && { closeDelay }),
    ...(closeTimeout !== undefined && { closeTimeout }),
    ...(corsAllowedOrigins && { corsAllowedOrigins }),
    ...(intercept && { intercept }),
    ...(metrics && { metrics }),
    ...(component && { component }),
    ...(onRequest && { onRequest }),
    ...(pages && { pages }),
    ...(authenticationFailures && { authenticationFailures }),
    ...(tls !== undefined && { tls }),
  };
}

/** Returns the function by which processes that serve the same shards find each other. */
export function meetOf({ instance, rootCa, serviceAccountKeys: keys, log }: WorkspaceServerOptions): Meet | undefined {
  if (instance === undefined) return undefined;
  return ({ store, shard, urls }) =>
    Replicas.join({ store, shard, instance, alike: { urls, rootCa: rootCa(), keys }, log });
}
