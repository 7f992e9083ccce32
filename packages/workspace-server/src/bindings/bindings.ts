import type { GroupResource, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Admit, ServedResource, TypedDefinition } from "@virtual-workspaces/framework";
import {
  APIBinding,
  ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  clusterOf,
  type LogicalCluster,
  Partition,
  type TypesOf,
} from "@virtual-workspaces/kcp";
import type { PersistentOptions } from "@virtual-workspaces/store";
import type { IsAllowed } from "../authz/access.ts";
import type { BoundResource } from "../authz/authorizer-state.ts";
import { failureLog, knownIn } from "../controllers/shard-controllers.ts";
import { follow } from "../controllers/sources.ts";
import type { CrdContent, CrdSpec } from "../crds/definition/definition.ts";
import type { KindTable } from "../crds/served/kind-table.ts";
import { admitInOrder } from "../state/admission.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { inProcessPeer } from "../state/in-process-peer.ts";
import type { Informer } from "../state/informers/informer.ts";
import type { ShardPeer } from "../state/shard-peer.ts";
import { admitApiBinding } from "./binding/admit-api-binding.ts";
import { BindingController } from "./binding/binding-controller.ts";
import { LockController } from "./binding/locks.ts";
import { admitCachedResource, admitCachedSlice } from "./cached/admit-cached-resources.ts";
import { CachedKinds } from "./cached/cached-kinds.ts";
import { CachedResourceController } from "./cached/cached-resource-controller.ts";
import { cachedResourceSlices } from "./cached/cached-slices.ts";
import { admitClaims, ClaimIndex } from "./claims/claim-index.ts";
import type { KeptKind, KindsOf } from "./claims/claim-labels.ts";
import { BoundByDefault } from "./defaults/default-bindings.ts";
import { DefaultBindings } from "./defaults/defaults-controller.ts";
import { ExpectedBindings } from "./defaults/expected-bindings.ts";
import { admitApiExport, admitApiResourceSchema, admitEndpointSlice } from "./exports/admit-exports.ts";
import { apiExportSlices, EndpointSliceController } from "./exports/endpoint-slices.ts";
import { ExportController } from "./exports/export-controller.ts";
import { Exports, placeOf } from "./exports/exports.ts";
import { Identities, type SecretContent } from "./exports/identity.ts";
import { BoundCrds } from "./served/bound-crds.ts";
import { BoundKinds } from "./served/bound-kinds.ts";
import type { FindOwnKind, ServeElsewhere } from "./served/own-kind.ts";

/** Options of {@link Bindings}. */
export interface BindingsOptions {
  /** Kubernetes kinds in which identities are stored. */
  readonly kinds: {
    readonly secret: TypedDefinition<SecretContent>;
    readonly namespace: TypedDefinition<object>;
    readonly crd: TypedDefinition<CrdContent>;
  };
  /** CustomResourceDefinitions of all logical clusters. @default an informer of its own */
  readonly crds?: Informer<CrdContent>;
  /** Checks whether a user may bind an export. */
  readonly mayAccess: IsAllowed;
  /**
   * Returns where claimed objects of built-in kinds and CustomResourceDefinitions are; bound kinds are found without
   * it. `undefined` for resources that the shard does not know.
   */
  readonly kindsOf: KindsOf;
  /** Called before every write of a bound object, before the claim labels are set. @default none */
  readonly admit?: Admit;
  /** Returns kinds that the server implements itself; they are served with its own schema. @default none */
  readonly own?: FindOwnKind;
  /** Serves resources that views store (`storage.virtual`). @default they are bound but not served */
  readonly elsewhere?: ServeElsewhere | undefined;
  /** Storage options of bound objects. @default those of `persistent` */
  readonly kept?: Pick<PersistentOptions, "history" | "linger" | "onError">;
  /** Whether to write `status.virtualWorkspaces` of exports, which kcp has deprecated. @default true */
  readonly virtualWorkspaceURLs?: boolean;
  /** Whether the controllers of ClusterCachedResources and their slices run (kcp's feature gate `CacheAPIs`). @default false */
  readonly cachedResources?: boolean;
  /** Compiled kinds, shared with those of CustomResourceDefinitions. @default a table of its own */
  readonly table?: KindTable;
  /** Time of conditions and locks. @default the clock */
  readonly now?: () => Date;
}

/**
 * APIExports and APIBindings of a shard: admission, controllers and served resources. Create it before the informers of
 * the shard start. It has no timer, and for each workspace keeps only its objects. All state is in the objects, so a
 * restarted server continues where it was.
 */
export class Bindings implements ShardController {
  readonly started: Promise<unknown>;
  /** Admission by kind, the same for both versions of exports and bindings. {@link admitClaims} must come after it. */
  readonly admission: {
    readonly apiExport: Admit;
    readonly apiBinding: Admit;
    readonly apiResourceSchema: Admit;
    readonly apiExportEndpointSlice: Admit;
  };
  /** Admission of the kinds of `cache.kcp.io` by plural, whether or not their controllers run. */
  readonly cachedAdmission: ReadonlyMap<string, Admit>;
  /** Sets the labels by which exports find claimed objects. It must be the last admission of every stored kind. */
  readonly admitClaims: Admit;
  /** Index of permission claims. */
  readonly claims: ClaimIndex;
  readonly #shard: ShardContext;
  readonly #exports: Exports;
  readonly #kinds: BoundKinds;
  readonly #binding: BindingController;
  readonly #export: ExportController;
  readonly #slices: readonly EndpointSliceController[];
  readonly #defaults: DefaultBindings;
  readonly #expected: ExpectedBindings;
  readonly #stack = new AsyncDisposableStack();
  /** Watches of other shards, by shard name. */
  readonly #joined = new Map<string, Disposable>();

  constructor(shard: ShardContext, options: BindingsOptions) {
    const { objects, state, registry } = shard;
    const { kinds, mayAccess, kept, table, now = () => new Date(), virtualWorkspaceURLs = true } = options;
    this.#shard = shard;
    const exports = new Exports(shard);
    this.#exports = exports;
    const claims = new ClaimIndex(state, exports);
    this.claims = claims;
    this.admitClaims = admitClaims(claims);
    this.admission = {
      apiExport: admitApiExport(state),
      apiBinding: admitApiBinding({ state, exports, mayAccess }),
      apiResourceSchema: admitApiResourceSchema,
      apiExportEndpointSlice: admitEndpointSlice(exports, mayAccess),
    };
    const crds = options.crds ?? objects.informer(kinds.crd);
    const secrets = objects.informer(kinds.secret);
    const partitions = objects.informer(Partition);
    const boundCrds = new BoundCrds(objects.of(kinds.crd), crds, now);
    const onError = failureLog(shard);
    this.#kinds = this.#stack.use(
      new BoundKinds({
        ...kept,
        state,
        crds: boundCrds,
        store: objects.store,
        admit: admitInOrder(...(options.admit ? [options.admit] : []), this.admitClaims),
        kinds: table,
        own: options.own,
        elsewhere: options.elsewhere,
        onFault: (error, crd) =>
          shard.log({ level: "error", message: `cannot serve bound kind "${crd}": ${String(error)}` }),
      }),
    );
    const own = inProcessPeer(shard);
    const shards = (): readonly ShardPeer[] => {
      const { shards: all } = registry;
      return all.some(({ name }) => name === shard.name) ? all : [own, ...all];
    };
    const known = knownIn(registry);
    const typesOf: TypesOf = (key) => registry.workspaceTypes(key);
    const created = (binding: APIBinding, key: ObjectKey): APIBinding => this.#binding.created(binding, key);
    const bound = new BoundByDefault({ objects, state, exports, typesOf, created });
    this.#expected = new ExpectedBindings({ state, exports, crds, bound, now });
    const expected = (cluster: string): readonly string[] => this.#expected.namesIn(cluster);
    const common = { objects, state, exports, crds, known, now, onError, shards, expected };
    const kindsOf: KindsOf = (cluster, resource) => this.#kindsOf(cluster, resource, options.kindsOf);
    this.#binding = this.#stack.use(
      new BindingController({ ...common, boundCrds, claims, kindsOf, kinds: this.#kinds }),
    );
    const locks = this.#stack.use(new LockController(common));
    const onNamespace = (error: unknown): void =>
      shard.log({ level: "warn", message: `cannot create the namespace of identity secrets: ${String(error)}` });
    const identities = new Identities({
      secrets: objects.of(kinds.secret),
      namespaces: objects.of(kinds.namespace),
      onNamespace,
    });
    this.#export = this.#stack.use(new ExportController({ ...common, secrets, identities, virtualWorkspaceURLs }));
    const whole = (): Promise<void> | undefined => registry.whole();
    const cachedKinds = new CachedKinds(shard.kinds);
    const admitting = { shard, kinds: cachedKinds, isAllowed: mayAccess };
    this.cachedAdmission = new Map([
      [ClusterCachedResource.plural, admitCachedResource(admitting)],
      [ClusterCachedResourceEndpointSlice.plural, admitCachedSlice(admitting)],
    ]);
    const kindsOfSlices = [
      apiExportSlices(state, exports),
      ...(options.cachedResources === true ? [cachedResourceSlices(shard, exports)] : []),
    ];
    this.#slices = kindsOfSlices.map((kind) =>
      this.#stack.use(new EndpointSliceController({ ...common, kind, partitions, whole })),
    );
    const cached =
      options.cachedResources === true
        ? [this.#stack.use(new CachedResourceController({ ...common, shard, secrets, identities, kinds: cachedKinds }))]
        : [];
    this.#defaults = this.#stack.use(
      new DefaultBindings({
        ...{ ...common, typesOf, bound, mayAccess, services: shard.services, log: shard.log },
        externalURL: () => shard.urls.externalURL,
      }),
    );
    for (const each of shards()) this.join(each);
    const parts: readonly ShardController[] = [
      ...[this.#binding, locks, this.#export, this.#defaults],
      ...this.#slices,
      ...cached,
    ];
    this.started = Promise.all(parts.map(({ started }) => started));
    this.started.then(
      () => this.#sweep(boundCrds),
      () => undefined,
    );
  }

  /**
   * Watches another shard, whose exports can then be bound here.
   *
   * @returns stops watching, for when the shard leaves; the same object for a shard that is already watched
   */
  join(shard: ShardPeer): Disposable {
    const known = this.#joined.get(shard.name);
    if (known !== undefined) return known;
    const stack = new DisposableStack();
    this.#joined.set(shard.name, stack);
    stack.use(this.#binding.follow(shard));
    for (const slices of this.#slices) stack.use(slices.follow(shard));
    stack.use(this.#defaults.follow(shard));
    stack.use(shard.state.shards.on({ deleted: () => changed() }));
    stack.use(
      follow(
        shard.state.shards,
        () => this.#export.shardsChanged(),
        ({ spec }) => spec?.virtualWorkspaceURL,
      ),
    );
    const changed = (): void => {
      this.#binding.shardsChanged();
      this.#defaults.shardsChanged();
      this.#export.shardsChanged();
      for (const slices of this.#slices) slices.shardsChanged();
    };
    changed();
    stack.defer(() => {
      this.#joined.delete(shard.name);
      changed();
    });
    this.#stack.use(stack);
    return stack;
  }

  /**
   * Returns the resources that a logical cluster has by its bindings, each by its plural and as `<plural>:<identity>`.
   * For `*`, those of all logical clusters, by identity alone. The same list while nothing changes, and for logical
   * clusters with equal bindings.
   */
  servedIn(cluster: string): readonly ServedResource[] {
    return this.#kinds.servedIn(cluster);
  }

  /** See {@link BindingController.created}. */
  created(binding: APIBinding, key: ObjectKey): APIBinding {
    return this.#binding.created(binding, key);
  }

  /** See {@link ExpectedBindings.locked}. */
  locked(cluster: LogicalCluster): LogicalCluster {
    return this.#expected.locked(cluster);
  }

  /** See {@link BoundKinds.ownKind}. */
  ownKind(resource: GroupResource): ServedResource | undefined {
    return this.#kinds.ownKind(resource);
  }

  /** See {@link BoundKinds.scopeOf}. */
  scopeOf(resource: GroupResource): CrdSpec["scope"] | undefined {
    return this.#kinds.scopeOf(resource);
  }

  /** Returns the binding by which a logical cluster has a resource, for authorization; the last of several. */
  boundResource(cluster: string, group: string, resource: string): BoundResource | undefined {
    const binding = this.#shard.state.apiBindings.store
      .list(cluster)
      .findLast(({ status }) =>
        status?.boundResources?.some((one) => one.group === group && one.resource === resource),
      );
    const reference = binding?.spec.reference.export;
    if (reference === undefined) return undefined;
    const found = this.#exports.find(reference, cluster);
    return {
      reference: { path: placeOf(reference, cluster), name: reference.name },
      export: found && {
        cluster: clusterOf(found),
        name: reference.name,
        policy: found.spec?.maximalPermissionPolicy?.local !== undefined,
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  /** Removes unused definitions in the background at startup, once all bindings are known. */
  async #sweep(boundCrds: BoundCrds): Promise<void> {
    await this.#shard.objects.whole;
    if (this.#stack.disposed) return;
    try {
      await boundCrds.sweep((uid) => this.#kinds.isBound(uid));
    } catch (error) {
      this.#shard.log({ level: "warn", message: `cannot remove unused definitions of bound kinds: ${String(error)}` });
    }
  }

  /** A bound kind takes precedence over another of the same name. */
  #kindsOf(cluster: string, resource: GroupResource, others: KindsOf): readonly KeptKind[] | undefined {
    const { group, resource: plural } = resource;
    if (group === APIBinding.group && plural === APIBinding.plural)
      return [this.#shard.objects.of(APIBinding) as unknown as KeptKind];
    const bound = this.#kinds.boundAs(resource);
    const here = this.#kinds.pairsIn(cluster).find((pair) => pair.group === group && pair.resource === plural);
    const live = here && this.#kinds.liveOf(here);
    if (live?.objects !== undefined) return [live.objects as unknown as KeptKind];
    return others(cluster, resource) ?? (bound.length > 0 ? [] : undefined);
  }
}
