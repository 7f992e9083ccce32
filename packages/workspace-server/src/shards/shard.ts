import { type GroupResource, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Keyed, Source } from "@virtual-workspaces/client/queue";
import type { Admit, Authenticator, ServedResource } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  BOUND_CRDS_CLUSTER,
  LogicalCluster,
  ROOT_CLUSTER,
  ROOT_SHARD,
  SYSTEM_ADMIN_CLUSTER,
} from "@virtual-workspaces/kcp";
import { normalizedGroupResource } from "@virtual-workspaces/kcp/apis";
import { ObjectFeed, type Store } from "@virtual-workspaces/store";
import { type Clock, systemClock } from "@virtual-workspaces/transport";
import { type ConfiguredAdmission, configuredAdmission } from "../admission/admission.ts";
import { recordRequester, signerRights } from "../admission/certificates.ts";
import { paramRights } from "../admission/param-rights.ts";
import { policyTypes } from "../admission/policy-types.ts";
import { access, deepAccess } from "../authz/access.ts";
import { type AuthorizationOptions, type ShardAuthorizer, shardAuthorizer } from "../authz/authorizer.ts";
import { roleEscalation } from "../authz/role-escalation.ts";
import { Bindings } from "../bindings/bindings.ts";
import { ClaimLabelController, type KeptKind } from "../bindings/claims/claim-labels.ts";
import type { ServeElsewhere } from "../bindings/served/own-kind.ts";
import { type BootstrapOptions, bootstrap, register } from "../bootstrap/bootstrap.ts";
import { rootBound, systemKinds } from "../bootstrap/system-apis.ts";
import { aggregatedRoles } from "../controllers/aggregated-roles.ts";
import { CrdController } from "../crds/controller/controller.ts";
import { GarbageCollector } from "../garbage/collector.ts";
import { CustomResourceDefinition } from "../kinds/custom-resource-definition.ts";
import { Namespace } from "../kinds/namespace.ts";
import { ClusterRoleBinding } from "../kinds/rbac.ts";
import { Secret } from "../kinds/secret.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import { admitNamedSecrets } from "../mounts/named-secrets.ts";
import { Leftovers } from "../namespaces/leftovers.ts";
import { NamespaceDeletion } from "../namespaces/namespace-deletion.ts";
import { namespaceLifecycle } from "../namespaces/namespace-lifecycle.ts";
import { admitWithinQuotas } from "../quotas/admit-quota.ts";
import { QuotaController, type QuotaControllerOptions } from "../quotas/quota-controller.ts";
import { QuotaIndex } from "../quotas/quota-limits.ts";
import type { QuotaMeter } from "../quotas/quota-meter.ts";
import { QuotaUsage, withinQuotas } from "../quotas/quota-usage.ts";
import { reviewKinds } from "../reviews/review-kinds.ts";
import { NamespaceContents } from "../service-accounts/namespace-contents.ts";
import {
  apiKinds,
  baseKinds,
  cachedKinds,
  inGroupOrder,
  logicalClusters,
  nameOf,
  ServedLists,
  takenNames,
} from "../serving/base-kinds.ts";
import { HomeWorkspaces } from "../serving/home-workspaces.ts";
import { MetadataKinds } from "../serving/metadata-kinds.ts";
import type { ServedShard } from "../serving/served-shard.ts";
import type { ShardUrls } from "../shard-urls.ts";
import { admitInOrder } from "../state/admission.ts";
import { authorizerState } from "../state/authorization-state.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { inProcessPeer } from "../state/in-process-peer.ts";
import { ShardObjects } from "../state/objects.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { ShardState } from "../state/shard-state.ts";
import { KindsOfClusters, type StoredKind } from "../state/stored-kinds.ts";
import type { TokenSubresourceOptions } from "../tokens/token-request.ts";
import { VirtualStorage, type VirtualStorageOptions } from "../virtual-storage/virtual-storage.ts";
import type { WebhookClient } from "../webhooks/client.ts";
import { admitPathAnnotation, workspaceAdmissions } from "../workspaces/admission/workspace-admissions.ts";
import { workspaceContent } from "../workspaces/logical-cluster/content.ts";
import { ObjectCounts, objectLimit } from "../workspaces/object-limit.ts";
import { workspaceControllers } from "../workspaces/workspace-controllers.ts";

const NOTHING: readonly ServedResource[] = [];

/** Options of a shard. */
export interface ShardOptions {
  /** Name; `root` for the shard with the root of the tree. */
  readonly name: string;
  /** URLs of the shard, called once it has started and its listening address is known. */
  readonly urls: () => ShardUrls;
  /** Store of this shard only: its versions form one sequence. */
  readonly store: Store;
  /** All shards that run together. */
  readonly registry: ShardRegistry;
  /** Authenticators for TokenReviews, the same as those of the shard's listener. */
  readonly authenticators: readonly Authenticator[];
  readonly token: TokenSubresourceOptions;
  /** CA certificate with which clients verify the server, PEM, current. */
  readonly rootCa: () => string;
  /** Audiences of tokens that name none. */
  readonly audiences: readonly string[];
  /** Default maximum of objects in a logical cluster. @default unlimited */
  readonly totalObjectLimit?: number;
  /** Whether exports get `status.virtualWorkspaces`. @default true */
  readonly virtualWorkspaceURLs?: boolean;
  /** Whether each logical cluster has ClusterCachedResources and their slices, with controllers. @default false */
  readonly cachedResources?: boolean;
  /** Groups whose members get a home workspace on demand. @default home workspaces are disabled */
  readonly homeCreators?: readonly string[];
  /** Resources of exports in views (`storage.virtual`), and calls of other servers' views. @default only views of this process */
  readonly virtualStorage?: false | VirtualStorageOptions;
  /** @default kcp's order without a webhook */
  readonly authorization?: AuthorizationOptions;
  /** Whether workspaces may be mounted. @default true */
  readonly mounts?: boolean;
  /** Calls of admission webhooks. */
  readonly webhooks: WebhookClient;
  /** Counts decisions of quotas. */
  readonly quotaMeter: QuotaMeter;
  /** Views of the shard's listener. @default none */
  readonly services?: OwnServices;
  /** Time of delays and backoff of controllers. @default the machine's */
  readonly clock?: Clock;
  readonly log: Log;
}

/** One shard: objects in a store, their controllers, and the resources of each logical cluster. */
export class Shard implements ServedShard, AsyncDisposable {
  readonly context: ShardContext;
  readonly authorizer: ShardAuthorizer;
  /** Home workspaces; only on the shard that has `root`, if enabled. */
  readonly homes: HomeWorkspaces | undefined;
  readonly #crds: CrdController;
  readonly #base: readonly ServedResource[];
  readonly #bindings: Bindings;
  readonly #lists: ServedLists;
  readonly #metadata: MetadataKinds;
  readonly #bootstrap: BootstrapOptions;
  readonly #quotas: QuotaControllerOptions;
  readonly #stack = new AsyncDisposableStack();
  readonly #controllers = new AsyncDisposableStack();
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  #background: Promise<void> | undefined;

  constructor(options: ShardOptions) {
    const { name, urls, registry, rootCa, homeCreators, clock = systemClock, log } = options;
    const kept = { onError: (error: unknown): void => this.#failed("objects", error) };
    const feed = this.#stack.use(
      new ObjectFeed({ store: options.store, onError: (error) => this.#failed("feed", error) }),
    );
    const usage = new QuotaUsage({ store: options.store, feed, onError: (error) => this.#failed("quotas", error) });
    this.#stack.use(usage);
    const store = withinQuotas(options.store, usage);
    const objects = this.#stack.use(new ShardObjects(store, kept.onError));
    const state = new ShardState(objects);
    const authorizer = (): ShardAuthorizer => this.authorizer;
    this.context = {
      name,
      get urls() {
        return urls();
      },
      get authorizer() {
        return authorizer();
      },
      objects,
      state,
      registry,
      kinds: new KindsOfClusters((cluster) => this.servedIn(cluster)),
      feed,
      rootCa,
      minter: options.token.minter,
      services: options.services,
      ...(options.mounts !== undefined && { mounts: options.mounts }),
      clock,
      log,
    };
    const known = authorizerState(this.context, (...asked) => this.#bindings.boundResource(...asked));
    this.authorizer = shardAuthorizer({ ...options.authorization, state: known });
    const counts = this.#stack.use(new ObjectCounts(this.context.feed));
    const quotas = new QuotaIndex();
    const { quotaMeter: meter } = options;
    this.#quotas = { quotas, usage, meter };
    state.resourceQuotas.mirror({
      added: (quota, { key }) => quotas.set(quota, key),
      updated: (quota, _, { key }) => quotas.set(quota, key),
      deleted: (_, { key }) => quotas.delete(key),
    });
    const limits = admitInOrder(
      objectLimit({ counts, state, byDefault: options.totalObjectLimit ?? 0 }),
      admitWithinQuotas({ kinds: this.context.kinds, quotas, usage, meter }),
    );
    // Admission of all kinds, in kcp's order: its own rules, webhooks and policies, the path annotation, the labels of claims
    // (`admitClaims`, the last mutation), the object limit, quotas.
    const isAllowed = deepAccess(this.authorizer, this.#stop.signal);
    const admit = admitInOrder(namespaceLifecycle({ objects, state }), admitNamedSecrets(isAllowed));
    const configured = configuredAdmission({ shard: this.context, client: options.webhooks });
    const roles = roleEscalation({ state: known, authorizer: this.authorizer });
    const rules = workspaceAdmissions({ shard: this.context, isAllowed });
    const path = admitPathAnnotation({ state });
    const own = (plural: string): Admit =>
      admitInOrder(...[rules.get(plural) ?? this.#bindings.cachedAdmission.get(plural) ?? []].flat());
    const elsewhere = this.#virtualStorage(options, configured);
    this.#bindings = this.#controllers.use(
      new Bindings(this.context, {
        own: systemKinds({ objects, identities: () => registry.identities, admit: own }),
        kinds: { secret: Secret as never, namespace: Namespace, crd: CustomResourceDefinition as never },
        mayAccess: isAllowed,
        kindsOf: (cluster, resource) => this.#keptKinds(cluster, normalizedGroupResource(resource)),
        admit: admitInOrder(admit, configured.bound, path, limits),
        elsewhere,
        kept,
        cachedResources: options.cachedResources === true,
        ...(options.virtualWorkspaceURLs !== undefined && { virtualWorkspaceURLs: options.virtualWorkspaceURLs }),
      }),
    );
    const params = paramRights({ shard: this.context, isAllowed });
    const rights = admitInOrder(admit, signerRights(isAllowed), roles, params);
    const all = admitInOrder(rights, configured.own, path, recordRequester, this.#bindings.admitClaims, limits);
    this.#crds = this.#stack.use(
      new CrdController({
        crds: objects.of(CustomResourceDefinition) as never,
        store,
        admit: admitInOrder(admit, configured.own, this.#bindings.admitClaims, limits),
        known: (cluster) => registry.load(cluster),
        taken: (cluster, group) => takenNames([...this.#base, ...this.#bindings.servedIn(cluster)], group),
        objects: { garbageCollected: true, ...kept },
        clock,
        onError: (error, crd) => this.#failed(`custom resource definition ${crd}`, error),
      }),
    );
    this.#base = [
      ...inGroupOrder([
        ...baseKinds({ objects, admit: all, token: options.token }),
        ...reviewKinds({ ...options, authorizer: this.authorizer, admit: configured.own }),
      ]),
      this.#crds.serve(all),
      ...apiKinds(objects, { admit: all, bindings: this.#bindings }),
      logicalClusters(objects, admitInOrder(own(LogicalCluster.plural), all)),
      ...(options.cachedResources === true ? cachedKinds(objects, { admit: all, bindings: this.#bindings }) : []),
    ];
    this.#lists = new ServedLists(this.#base);
    this.#metadata = new MetadataKinds({
      crds: this.#crds,
      bindings: this.#bindings,
      base: this.#base,
      store,
      onError: (error) => this.#failed("metadata", error),
    });
    this.#bootstrap = { homeCreators: homeCreators ?? [], cachedResources: options.cachedResources === true };
    if (name === ROOT_SHARD && homeCreators !== undefined)
      this.homes = new HomeWorkspaces({ shard: this.context, isAllowed: access(this.authorizer, this.#stop.signal) });
  }

  /**
   * Creates the initial objects, reads the shard's own state, and starts its controllers. Kinds with objects in every
   * workspace are read on demand and in the background; what needs all of them waits.
   *
   * @param joined awaited before controllers work: shards that start together must not miss each other's objects
   * @throws ApiError 503 when the store cannot be read or written, and the errors of `joined`
   */
  async start(joined?: () => Promise<void>): Promise<void> {
    await bootstrap(this.context, this.#bootstrap);
    await this.context.registry.identified;
    const held = Promise.withResolvers<void>();
    const { objects } = this.context;
    await objects.begin(held.promise);
    for (const cluster of [SYSTEM_ADMIN_CLUSTER, ROOT_CLUSTER]) await objects.loadFirst(cluster);
    this.#stack.use(this.context.registry.join(inProcessPeer(this.context)));
    await joined?.();
    held.resolve();
    this.#stack.use(this.context.registry.eachShard((shard) => this.#bindings.join(shard)));
    await this.#crds.start();
    await this.#bindings.started;
    if (this.context.name === ROOT_SHARD) await rootBound(this.context.state, this.#bootstrap, this.#stop.signal);
    this.#stack.use(this.#freeNames());
    // Before the controllers have work: this write would have to wait behind theirs.
    await register(this.context.registry.shard(ROOT_SHARD) ?? this.context, this.context);
    const isBound = (cluster: string, { definition }: StoredKind): boolean =>
      this.#bindings.servedIn(cluster).some((kind) => nameOf(kind) === nameOf({ definition }));
    {
      using _together = this.context.objects.gather();
      for (const part of shardControllers(this.context, isBound, this.#bindings)) this.#controllers.use(part);
      this.#controllers.use(new QuotaController(this.context, this.#quotas));
    }
    this.#ready.resolve();
    this.#background = this.#readAll();
  }

  /** Starts the feed after everything is read: its consumers rely on the informers. */
  async #readAll(): Promise<void> {
    try {
      await this.context.objects.readAll();
    } catch (error) {
      this.#failed("objects", error);
    }
    if (this.context.objects.isWhole) this.context.feed.start();
  }

  /** Resolves when everything in the store at the time of this call is authorized and served. @throws ApiError 503 */
  async confirm(request: { readonly signal: AbortSignal }): Promise<void> {
    await Promise.all([this.context.objects.confirm(request), this.#crds.confirm(request)]);
  }

  /** Returns the resources of a logical cluster, whether or not it exists; equal logical clusters share one list. */
  servedIn(cluster: string): readonly ServedResource[] {
    const isOne = cluster !== WILDCARD && cluster !== BOUND_CRDS_CLUSTER;
    const own = isOne ? this.#crds.servedIn(cluster) : NOTHING;
    return this.#lists.of({ bound: this.#bindings.servedIn(cluster), own });
  }

  /** Returns the metadata resource of a kind over all logical clusters. */
  metadataOf(resource: GroupResource): ServedResource | undefined {
    return this.#metadata.of(resource);
  }

  /** Resolves when the shard has started. */
  get started(): Promise<void> {
    return this.#ready.promise;
  }

  /** Stops only the controllers. Stop those of all shards first when several end: none must see another leave. */
  stop(): Promise<void> {
    return this.#controllers.disposeAsync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#stop.abort();
    await this.#stack.disposeAsync();
    await this.#background;
  }

  #virtualStorage({ virtualStorage = {} }: ShardOptions, admission: ConfiguredAdmission): ServeElsewhere | undefined {
    if (virtualStorage === false) return undefined;
    const storage = this.#stack.use(new VirtualStorage(this.context, { ...virtualStorage, admission }));
    return (...served) => storage.serve(...served);
  }

  /** Returns the stored objects of a kind that exports claim. */
  #keptKinds(cluster: string, { group, resource }: GroupResource): readonly KeptKind[] | undefined {
    const name = `${resource}.${group}`;
    const kept = this.context.kinds.in(cluster).all.filter((kind) => nameOf(kind) === name);
    return kept.length === 0 ? undefined : kept.map(({ objects }) => objects as unknown as KeptKind);
  }

  /** Rechecks definitions that wait for a name when a binding changes. */
  #freeNames(): Disposable {
    const recheck = (_: unknown, { key }: Keyed): void => this.#crds.recheck(key.cluster);
    return this.context.state.apiBindings.on({
      updated: (_now, _before, event) => recheck(_now, event),
      deleted: recheck,
    });
  }

  #failed(part: string, error: unknown): void {
    this.context.log({
      level: "error",
      message: "part of a shard failed",
      shard: this.context.name,
      part,
      error: String(error),
    });
  }
}

/** Returns the controllers of a shard, in their only list. */
function shardControllers(
  context: ShardContext,
  isBound: (cluster: string, kind: StoredKind) => boolean,
  bindings: Bindings,
): readonly ShardController[] {
  const { clusterRoleBindings } = context.state.rbac;
  return [
    workspaceControllers(context, {
      content: workspaceContent(context, isBound),
      namespaces: Namespace,
      prepared: (cluster) => bindings.locked(cluster),
      roleBindings: { definition: ClusterRoleBinding, informer: clusterRoleBindings as unknown as Source },
    }),
    policyTypes(context),
    aggregatedRoles(context),
    new NamespaceContents(context),
    new NamespaceDeletion(context),
    new ClaimLabelController(context, bindings.claims),
    new GarbageCollector(context),
    new Leftovers(context),
  ];
}
