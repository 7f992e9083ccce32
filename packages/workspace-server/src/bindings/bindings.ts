import type { GroupResource } from "@virtual-workspaces/apimachinery";
import type { Admit, ServedResource, TypedDefinition } from "@virtual-workspaces/framework";
import { APIBinding, clusterOf, Partition, type TypesOf } from "@virtual-workspaces/kcp";
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
import { admitClaims, ClaimIndex } from "./claims/claim-index.ts";
import type { KeptKind, KindsOf } from "./claims/claim-labels.ts";
import { DefaultBindings } from "./defaults/defaults-controller.ts";
import { admitApiExport, admitApiResourceSchema, admitEndpointSlice } from "./exports/admit-exports.ts";
import { EndpointSliceController } from "./exports/endpoint-slices.ts";
import { ExportController } from "./exports/export-controller.ts";
import { Exports, placeOf } from "./exports/exports.ts";
import { Identities, type SecretContent } from "./exports/identity.ts";
import { BoundCrds } from "./served/bound-crds.ts";
import { BoundKinds } from "./served/bound-kinds.ts";
import type { FindOwnKind, ServeElsewhere } from "./served/own-kind.ts";

/** What {@link Bindings} is made with. */
export interface BindingsOptions {
  /** Kinds of Kubernetes that exports are kept with. */
  readonly kinds: {
    readonly secret: TypedDefinition<SecretContent>;
    readonly namespace: TypedDefinition<object>;
    readonly crd: TypedDefinition<CrdContent>;
  };
  /** The CustomResourceDefinitions of all logical clusters, as they are followed. @default followed here */
  readonly crds?: Informer<CrdContent>;
  /** Asked whether somebody may bind an export. */
  readonly mayAccess: IsAllowed;
  /**
   * Where objects are that exports claim: of built-in kinds and those of CustomResourceDefinitions. What is bound is found
   * without. `undefined` for resources that the shard does not know.
   */
  readonly kindsOf: KindsOf;
  /** Asked before every write of a bound object, before the labels of claims are put right. @default nobody */
  readonly admit?: Admit;
  /** What of that which is bound the server keeps itself: it is served as it has it, not by schema. @default nothing */
  readonly own?: FindOwnKind;
  /** Serves what of it views keep (`storage.virtual`). @default it is bound, and not served */
  readonly elsewhere?: ServeElsewhere | undefined;
  /** How bound objects are kept. @default as `persistent` does */
  readonly kept?: Pick<PersistentOptions, "history" | "linger" | "onError">;
  /** Whether `status.virtualWorkspaces` of exports is written, which kcp has deprecated. @default true */
  readonly virtualWorkspaceURLs?: boolean;
  /** Kinds by what describes them, shared with those of CustomResourceDefinitions. @default own ones */
  readonly table?: KindTable;
  /** The time of conditions and locks. @default the clock */
  readonly now?: () => Date;
}

/**
 * APIExports and APIBindings of a shard: their admission, what keeps them right, and what is served of them. Make it before
 * the shard's objects begin to be followed. It holds no timer and nothing for a workspace but its objects; what it knows it
 * finds in them, so that a server that was killed goes on where it was.
 */
export class Bindings implements ShardController {
  readonly started: Promise<unknown>;
  /** Admission by kind; both versions of exports and bindings have the same. Claims' labels come after it: {@link admitClaims}. */
  readonly admission: {
    readonly apiExport: Admit;
    readonly apiBinding: Admit;
    readonly apiResourceSchema: Admit;
    readonly apiExportEndpointSlice: Admit;
  };
  /** The last to be asked of every kind that is kept: the labels by which exports find what they claim. */
  readonly admitClaims: Admit;
  /** Who claims what. */
  readonly claims: ClaimIndex;
  readonly #shard: ShardContext;
  readonly #exports: Exports;
  readonly #kinds: BoundKinds;
  readonly #binding: BindingController;
  readonly #export: ExportController;
  readonly #slices: EndpointSliceController;
  readonly #defaults: DefaultBindings;
  readonly #stack = new AsyncDisposableStack();
  /** By the name of the shard. */
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
          shard.log({ level: "error", message: `bound kind ${crd} cannot be served: ${String(error)}` }),
      }),
    );
    const own = inProcessPeer(shard);
    const shards = (): readonly ShardPeer[] => {
      const { shards: all } = registry;
      return all.some(({ name }) => name === shard.name) ? all : [own, ...all];
    };
    const known = knownIn(registry);
    const common = { objects, state, exports, crds, known, now, onError, shards };
    const kindsOf: KindsOf = (cluster, resource) => this.#kindsOf(cluster, resource, options.kindsOf);
    this.#binding = this.#stack.use(
      new BindingController({ ...common, boundCrds, claims, kindsOf, kinds: this.#kinds }),
    );
    const locks = this.#stack.use(new LockController(common));
    const onNamespace = (error: unknown): void =>
      shard.log({ level: "warn", message: `namespace of identities: ${String(error)}` });
    const identities = new Identities({
      secrets: objects.of(kinds.secret),
      namespaces: objects.of(kinds.namespace),
      onNamespace,
    });
    this.#export = this.#stack.use(new ExportController({ ...common, secrets, identities, virtualWorkspaceURLs }));
    const whole = (): Promise<void> | undefined => registry.whole();
    this.#slices = this.#stack.use(new EndpointSliceController({ ...common, partitions, whole }));
    const typesOf: TypesOf = (key) => registry.workspaceTypes(key);
    this.#defaults = this.#stack.use(
      new DefaultBindings({ ...common, typesOf, mayAccess, services: shard.services, log: shard.log }),
    );
    for (const each of shards()) this.join(each);
    const parts: readonly ShardController[] = [this.#binding, locks, this.#export, this.#slices, this.#defaults];
    this.started = Promise.all(parts.map(({ started }) => started));
    this.started.then(
      () => this.#sweep(boundCrds),
      () => undefined,
    );
  }

  /**
   * Watches another shard: its exports can be bound here from then on.
   *
   * @returns ends that, when the shard leaves: the same for one that is heeded already
   */
  join(shard: ShardPeer): Disposable {
    const known = this.#joined.get(shard.name);
    if (known !== undefined) return known;
    const stack = new DisposableStack();
    this.#joined.set(shard.name, stack);
    stack.use(this.#binding.follow(shard));
    stack.use(this.#slices.follow(shard));
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
      this.#slices.shardsChanged();
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
   * What a logical cluster has by its bindings: each resource by its plural and as `<plural>:<identity>`; for `*`, those of
   * all logical clusters by identity alone. The same list while nothing of it changes, and for logical clusters with equal
   * bindings.
   */
  servedIn(cluster: string): readonly ServedResource[] {
    return this.#kinds.servedIn(cluster);
  }

  /** As {@link BoundKinds.ownKind}. */
  ownKind(resource: GroupResource): ServedResource | undefined {
    return this.#kinds.ownKind(resource);
  }

  /** As {@link BoundKinds.scopeOf}. */
  scopeOf(resource: GroupResource): CrdSpec["scope"] | undefined {
    return this.#kinds.scopeOf(resource);
  }

  /** What authorization asks: the binding by which a logical cluster has a resource; of several the last. */
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

  /** What is not needed any more goes when a server starts, once all bindings are known: nothing waits for it. */
  async #sweep(boundCrds: BoundCrds): Promise<void> {
    await this.#shard.objects.whole;
    if (this.#stack.disposed) return;
    try {
      await boundCrds.sweep((uid) => this.#kinds.isBound(uid));
    } catch (error) {
      this.#shard.log({ level: "warn", message: `definitions that nothing is bound by: ${String(error)}` });
    }
  }

  /** What is bound beats a kind of the same name. */
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
