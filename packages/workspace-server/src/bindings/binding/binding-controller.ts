import { isDeepStrictEqual } from "node:util";
import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import {
  APIBinding,
  type APIBinding as APIBindingObject,
  type APIExport,
  BOUND_CRDS_CLUSTER,
  clusterOf,
} from "@virtual-workspaces/kcp";
import { isConditionTrue, markFalse, markTrue, READY_CONDITION } from "@virtual-workspaces/kcp/conditions";
import {
  API_BINDING_FINALIZER,
  EXPORT_EXTRA_ANNOTATION_PREFIX,
  PATH_ANNOTATION,
  RESOURCE_BINDINGS_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { commit, type Known } from "../../controllers/shard-controllers.ts";
import { filterStates, follow } from "../../controllers/sources.ts";
import type { ShardController } from "../../state/context.ts";
import { modify, read } from "../../state/modify.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import { RESOURCES_DELETED_CONDITION, type ShardState } from "../../state/shard-state.ts";
import { type ClaimIndex, withLabels } from "../claims/claim-index.ts";
import { type KindsOf, relabel } from "../claims/claim-labels.ts";
import type { Exports } from "../exports/exports.ts";
import { type BoundCrds, schemaOf } from "../served/bound-crds.ts";
import type { BoundKinds } from "../served/bound-kinds.ts";
import { Binder, type BinderOptions } from "./binder.ts";
import { applyClaims } from "./binding-claims.ts";
import { CLAIMS_APPLIED, CLAIMS_VALID, EXPORT_VALID, INITIAL_BINDING, StatusDraft, UP_TO_DATE } from "./draft.ts";
import { LeavingObjects } from "./leaving.ts";
import { lockKey } from "./locks.ts";

/** Options of {@link BindingController}. */
export interface BindingControllerOptions extends BinderOptions {
  readonly claims: ClaimIndex;
  readonly kindsOf: KindsOf;
  readonly kinds: BoundKinds;
  readonly known: Known;
  /** All shards of this process. */
  readonly shards: () => readonly ShardPeer[];
  readonly onError: (failure: ReconcileFailure) => void;
}

type Conditions = NonNullable<NonNullable<APIBindingObject["status"]>["conditions"]>;

/**
 * Reconciles APIBindings with their exports: bound resources, permission claims, annotations from the export and, on
 * deletion, removal of the bound objects. Each pass first takes the locks of the resources and creates the definitions,
 * then writes the status. After a crash, the next pass finds its own locks and continues.
 */
export class BindingController implements ShardController {
  readonly started: Promise<void>;
  readonly #options: BindingControllerOptions;
  readonly #binder: Binder;
  readonly #leaving: LeavingObjects;
  readonly #controller: Controller<APIBindingObject>;
  readonly #stack = new DisposableStack();
  /** Bindings whose export may be on a shard that does not run; their status is not changed. */
  readonly #unknown = new Map<string, ObjectKey>();

  constructor(options: BindingControllerOptions) {
    const { state, exports, kinds, onError } = options;
    this.#options = options;
    this.#binder = new Binder(options);
    const again = (key: ObjectKey): void => this.#controller.add(key);
    this.#leaving = this.#stack.use(new LeavingObjects({ state, exports, kinds, again }));
    this.#controller = controller<APIBindingObject>({
      name: "apibinding",
      sources: [{ informer: filterStates(state.apiBindings, (binding, key) => !this.#isSettled(binding, key)) }],
      reconcile: options.known(state.apiBindings, (key, { object, signal }) => this.#reconcile(key, object, signal)),
      onError,
      workers: 4,
    });
    this.started = this.#controller.started;
    this.#stack.use(follow(options.crds, (crd, key) => this.#definitionChanged(crd, key)));
    this.#stack.use(
      follow(
        state.logicalClusters,
        (_, { cluster }) => this.#lockChanged(cluster),
        ({ metadata }) => metadata.annotations,
      ),
    );
  }

  /** Watches the exports and schemas of any shard. @returns stops watching */
  follow({ state }: ShardPeer): Disposable {
    const stack = new DisposableStack();
    stack.use(
      follow(
        state.apiExports,
        (found, { cluster, name }) => {
          const path = found.metadata.annotations?.[PATH_ANNOTATION];
          for (const place of new Set([cluster, path ?? cluster])) this.#exportChanged(`${place}:${name}`);
          this.#identityChanged(found);
        },
        ({ metadata: { annotations }, spec, status }) => [annotations, spec, status?.identityHash],
      ),
    );
    const schemaChanged = (cluster: string, name: string): void => {
      for (const key of state.apiExports.store.keysBy("schema", `${cluster}/${name}`)) {
        const found = state.apiExports.store.get(key);
        this.#exportChanged(`${key.cluster}:${key.name}`, found?.metadata.annotations);
        this.#identityChanged(found);
      }
    };
    stack.use(follow(state.apiResourceSchemas, (_, { cluster, name }) => schemaChanged(cluster, name)));
    return stack;
  }

  /**
   * Returns a new binding as it is after its first pass, if that would write nothing else: its locks are held already, its
   * definitions exist, and nothing is claimed. Otherwise it stays unchanged, and the pass follows.
   */
  created(binding: APIBindingObject, key: ObjectKey): APIBindingObject {
    if ((binding.spec.permissionClaims ?? []).length > 0) return binding;
    const draft = new StatusDraft(binding, this.#options.now());
    if (!this.#binder.bindNow({ binding, key, draft })) return binding;
    if ((draft.status.exportPermissionClaims ?? []).length > 0) return binding;
    draft.copyReady();
    draft.holds(CLAIMS_VALID);
    draft.holds(CLAIMS_APPLIED);
    return this.#completed(binding, key, draft);
  }

  /** Retries bindings with an unknown export, after a shard was added or removed. */
  shardsChanged(): void {
    const all = [...this.#unknown.values()];
    this.#unknown.clear();
    for (const key of all) this.#controller.add(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  #exportChanged(reference: string, annotations: Readonly<Record<string, string>> = {}): void {
    const path = annotations[PATH_ANNOTATION];
    const name = reference.slice(reference.lastIndexOf(":") + 1);
    const references = new Set([reference, ...(path === undefined ? [] : [`${path}:${name}`])]);
    for (const each of references)
      for (const key of this.#options.state.apiBindings.store.keysBy("export", each)) this.#controller.add(key);
  }

  /** Retries the bindings whose claims wait for an export with this identity. */
  #identityChanged(found: APIExport | undefined): void {
    const { identityHash = "" } = found?.status ?? {};
    for (const key of this.#options.state.apiBindings.store.keysBy("waiting", identityHash)) this.#controller.add(key);
  }

  /** A deleted definition of a workspace may free a name; one of a bound resource is created again. */
  #definitionChanged(crd: Parameters<typeof schemaOf>[0], { cluster, name }: ObjectKey): void {
    if (cluster !== BOUND_CRDS_CLUSTER) {
      this.#lockChanged(cluster);
      return;
    }
    this.#options.kinds.defined(name);
    if (this.#options.boundCrds.get(name) !== undefined) return;
    const schema = schemaOf(crd);
    for (const { state } of this.#options.shards())
      for (const key of state.apiExports.store.keysBy("schema", `${schema.cluster}/${schema.name}`))
        this.#exportChanged(`${key.cluster}:${key.name}`, state.apiExports.store.get(key)?.metadata.annotations);
  }

  /** Retries the bindings of a logical cluster that wait for a resource or a name. */
  #lockChanged(cluster: string): void {
    for (const { metadata, status } of this.#options.state.apiBindings.store.list(cluster))
      if (!isConditionTrue(status?.conditions, UP_TO_DATE))
        this.#controller.add({ cluster, namespace: "", name: metadata.name ?? "" });
  }

  async #reconcile(key: ObjectKey, cached: APIBindingObject | undefined, signal: AbortSignal): Promise<void> {
    if (cached !== undefined && this.#isSettled(cached, key)) return;
    const binding = cached && (await this.#read(key));
    if (binding === undefined) this.#leaving.end(key);
    else if (binding.metadata.deletionTimestamp !== undefined) await this.#remove(binding, key, signal);
    else if (this.#isUnknown(binding)) this.#unknown.set(`${key.cluster}/${key.name}`, key);
    else await this.#bind(binding, key, signal);
  }

  #isSettled(binding: APIBindingObject, key: ObjectKey): boolean {
    return this.#annotated(binding) === binding && isSettled(binding, key, this.#options);
  }

  #isUnknown(binding: APIBindingObject): boolean {
    const { exports } = this.#options;
    return (
      binding.spec.reference.export !== undefined && exports.of(binding) === undefined && exports.missing.length > 0
    );
  }

  #read(key: ObjectKey): Promise<APIBindingObject | undefined> {
    return read(this.#options.objects.of(APIBinding), key);
  }

  async #bind(binding: APIBindingObject, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const draft = new StatusDraft(binding, this.#options.now());
    if ((draft.status.phase ?? "") === "") {
      draft.set({ phase: "Binding" });
      draft.fails(INITIAL_BINDING, ["Info", "WaitingForEstablished", "Waiting for API(s) to be established"]);
    }
    await this.#binder.bind({ binding, key, draft });
    draft.copyReady();
    const found = this.#options.exports.of(binding);
    const errors = found === undefined ? [] : await applyClaims(this.#options, { binding, key, found, draft, signal });
    await this.#write(binding, key, draft);
    if (errors.length > 0) throw new Error(`cannot apply permission claims: ${errors.join(", ")}`);
  }

  /** Writes nothing if the binding has changed since it was read; the event triggers a new pass. */
  async #write(binding: APIBindingObject, key: ObjectKey, draft: StatusDraft): Promise<void> {
    const next = this.#completed(binding, key, draft);
    try {
      await commit(this.#options.objects.of(APIBinding), key, { before: binding, next });
    } catch (error) {
      if (!isApiError(error) || error.code !== 409) throw error;
    }
  }

  /** Returns a binding with a status, and the labels and annotations that follow from its export. */
  #completed(binding: APIBindingObject, key: ObjectKey, { status }: StatusDraft): APIBindingObject {
    const resource = { group: APIBinding.group, resource: APIBinding.plural };
    const { labels: before } = binding.metadata;
    const labels = this.#options.claims.corrected({ resource, key, labels: before, binding });
    return { ...this.#annotated(withLabels(binding, labels)), status };
  }

  /** Copies the export's extra annotations to the binding and removes all others with that prefix. */
  #annotated(binding: APIBindingObject): APIBindingObject {
    const isExtra = ([name]: readonly [string, string]): boolean => name.startsWith(EXPORT_EXTRA_ANNOTATION_PREFIX);
    const { annotations: before = {}, ...metadata } = binding.metadata;
    const found = this.#options.exports.of(binding);
    const extra = Object.entries(found?.metadata.annotations ?? {}).filter(isExtra);
    const own = Object.entries(before).filter((entry) => !isExtra(entry));
    const annotations = Object.fromEntries([...own, ...extra]);
    if (isDeepStrictEqual(annotations, before)) return binding;
    return { ...binding, metadata: { ...metadata, annotations } };
  }

  async #remove(binding: APIBindingObject, key: ObjectKey, signal: AbortSignal): Promise<void> {
    if (binding.metadata.finalizers?.includes(API_BINDING_FINALIZER) !== true) return;
    const left = await this.#leaving.sweep(binding, key, signal);
    if (left !== undefined) {
      const { reason, message } = left;
      const type = RESOURCES_DELETED_CONDITION;
      await this.#mark(key, (conditions) =>
        markFalse(conditions, { type, severity: "Error", reason, message }, this.#options.now()),
      );
      if (reason === "ResourceDeletionFailed") throw new Error(message);
      return;
    }
    const claimed = this.#claimed(binding);
    if (claimed.length > 0) {
      await this.#mark(key, (conditions) => markTrue(conditions, RESOURCES_DELETED_CONDITION, this.#options.now()));
      // With this condition, the claims no longer count. Labels are removed after the shard's cache has seen it.
      const seen = this.#options.state.apiBindings.store.get(key);
      if (!isConditionTrue(seen?.status?.conditions, RESOURCES_DELETED_CONDITION)) return;
      for (const resource of claimed) {
        const kinds = this.#options.kindsOf(key.cluster, resource) ?? [];
        await relabel(this.#options.claims, { cluster: key.cluster, resource, kinds, except: undefined, signal });
      }
    }
    await modify(this.#options.objects.of(APIBinding), key, (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((name) => name !== API_BINDING_FINALIZER);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
  }

  #claimed({ spec, status }: APIBindingObject): { readonly group: string; readonly resource: string }[] {
    const accepted = (spec.permissionClaims ?? []).filter(({ state }) => state === "Accepted");
    const all = [...accepted, ...(status?.appliedPermissionClaims ?? [])];
    const byText = new Map(all.map(({ group = "", resource }) => [`${group}/${resource}`, { group, resource }]));
    return [...byText.values()];
  }

  async #mark(key: ObjectKey, change: (conditions: Conditions | undefined) => Conditions): Promise<void> {
    await modify(this.#options.objects.of(APIBinding), key, (current) => ({
      ...current,
      status: { ...current.status, conditions: change(current.status?.conditions) },
    }));
  }
}

/** State that {@link isSettled} reads. */
interface SettledOptions {
  readonly state: ShardState;
  readonly exports: Exports;
  readonly boundCrds: BoundCrds;
  readonly claims: ClaimIndex;
}

const CONDITIONS = [READY_CONDITION, EXPORT_VALID, INITIAL_BINDING, UP_TO_DATE, CLAIMS_VALID, CLAIMS_APPLIED];

/**
 * Reports, by cached state alone, whether a pass would leave a binding unchanged. This saves reads and writes for most
 * bindings at startup, two for each workspace. Always false for bindings with claims.
 */
function isSettled(binding: APIBinding, key: ObjectKey, options: SettledOptions): boolean {
  const { metadata, spec, status } = binding;
  const { state, exports, boundCrds, claims } = options;
  const found = exports.of(binding);
  if (metadata.deletionTimestamp !== undefined || status?.phase !== "Bound" || found === undefined) return false;
  if (!CONDITIONS.every((type) => isConditionTrue(status.conditions, type))) return false;
  const there = clusterOf(found);
  if (status.apiExportClusterName !== there) return false;
  const claimed = [
    spec.permissionClaims,
    found.spec?.permissionClaims,
    status.exportPermissionClaims,
    status.appliedPermissionClaims,
  ];
  if (claimed.some((list = []) => list.length > 0)) return false;
  const locks = state.logicalCluster(key.cluster)?.metadata.annotations?.[RESOURCE_BINDINGS_ANNOTATION] ?? "";
  const own = JSON.stringify({ n: key.name });
  for (const { group, name, schema, storage } of found.spec?.resources ?? []) {
    const bound = status.boundResources?.find((one) => one.group === group && one.resource === name);
    const uid = exports.schema(there, schema)?.metadata.uid;
    if (bound === undefined || uid === undefined || storage?.virtual !== undefined) return false;
    const { name: boundAs, UID, identityHash } = bound.schema;
    if (boundAs !== schema || UID !== uid || identityHash !== found.status?.identityHash) return false;
    if (boundCrds.get(uid) === undefined) return false;
    if (!locks.includes(`${JSON.stringify(lockKey({ group, resource: name }))}:${own}`)) return false;
  }
  const resource = { group: APIBinding.group, resource: APIBinding.plural };
  return claims.corrected({ resource, key, labels: metadata.labels }) === metadata.labels;
}
