import { setImmediate } from "node:timers/promises";
import { type GroupResource, isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  type APIBinding,
  type APIExport,
  type APIResourceSchema,
  clusterOf,
  LogicalCluster,
} from "@virtual-workspaces/kcp";
import { RESOURCE_BINDINGS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { CrdNames, CustomResourceDefinition } from "../../crds/definition/definition.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import { logicalClusterKey, type ShardState } from "../../state/shard-state.ts";
import { type Exports, exportText } from "../exports/exports.ts";
import { type BoundCrds, namesOf, UnboundableSchema } from "../served/bound-crds.ts";
import { EXPORT_VALID, INITIAL_BINDING, type StatusDraft, UP_TO_DATE } from "./draft.ts";
import {
  cleanedLocks,
  formatConflicts,
  formatLocks,
  type HoldersOptions,
  holdersIn,
  type Lock,
  lockKey,
  parseLocks,
  takeLocks,
} from "./locks.ts";

/** Options of {@link Binder}. */
export interface BinderOptions extends HoldersOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly exports: Exports;
  readonly boundCrds: BoundCrds;
  readonly now: () => Date;
}

/** Binding in progress. */
export interface Binding {
  readonly binding: APIBinding;
  readonly key: ObjectKey;
  readonly draft: StatusDraft;
}

type ExportedResource = NonNullable<NonNullable<APIExport["spec"]>["resources"]>[number];

/** Resource of an export, with its schema. */
interface WantedResource {
  readonly resource: ExportedResource;
  readonly schema: APIResourceSchema;
}

/** Request of a binding for the locks of its resources. */
interface LockRequest {
  readonly name: string;
  readonly resources: readonly GroupResource[];
  /** Locks that others hold; `undefined` without a LogicalCluster. */
  conflicts: ReadonlyMap<string, Lock> | undefined;
}

interface LockBatch {
  readonly requests: LockRequest[];
  readonly written: Promise<void>;
}

/** Binds exports: the part of kcp's `kcp-apibinding` that sets the bound resources and their conditions. */
export class Binder {
  readonly #options: BinderOptions;
  /** Requests for locks that are written together, by logical cluster. */
  readonly #locking = new Map<string, LockBatch>();

  constructor(options: BinderOptions) {
    this.#options = options;
  }

  /** Binds what can be bound now and records the result in the draft. @throws ApiError of the store; retry */
  async bind({ binding, key, draft }: Binding): Promise<void> {
    const reference = binding.spec.reference.export;
    if (reference === undefined) {
      draft.fails(EXPORT_VALID, ["Error", "APIExportInvalidReference", "Missing APIExport reference"]);
      return;
    }
    const { exports } = this.#options;
    const named = `APIExport ${exportText(reference, key.cluster)}`;
    const found = exports.find(reference, key.cluster);
    if (found === undefined) {
      draft.fails(EXPORT_VALID, ["Error", "APIExportNotFound", `${named} not found`]);
      return;
    }
    this.#shows(found, draft);
    const { identityHash = "" } = found.status ?? {};
    if (identityHash === "") {
      draft.fails(EXPORT_VALID, ["Warning", "MissingIdentityHash", `${named} is missing status.identityHash`]);
      return;
    }
    draft.set({ apiExportClusterName: clusterOf(found) });
    const wanted = this.#schemas(found, draft);
    if (wanted !== undefined) await this.#bindAll({ key, draft }, wanted, identityHash);
  }

  /**
   * Binds what {@link bind} would bind without a write: the binding holds all locks, and all definitions exist.
   *
   * @returns whether everything is bound; the draft is of no use otherwise
   */
  bindNow({ binding, key, draft }: Binding): boolean {
    const { state, exports, boundCrds } = this.#options;
    const reference = binding.spec.reference.export;
    const found = reference && exports.find(reference, key.cluster);
    const { identityHash = "" } = found?.status ?? {};
    if (found === undefined || identityHash === "") return false;
    this.#shows(found, draft);
    draft.set({ apiExportClusterName: clusterOf(found) });
    const { annotations } = state.logicalCluster(key.cluster)?.metadata ?? {};
    const locks = parseLocks(annotations?.[RESOURCE_BINDINGS_ANNOTATION]);
    const wanted = this.#schemas(found, draft);
    for (const { resource, schema } of wanted ?? []) {
      const lock = locks?.get(lockKey(groupResourceIn(resource)));
      const crd = boundCrds.get(schema.metadata.uid ?? "");
      if (lock?.n !== key.name || crd === undefined || this.#clash(key, schema) !== undefined) return false;
      bound({ resource, schema }, { crd, identityHash, draft });
    }
    if (wanted !== undefined) complete(draft);
    return wanted !== undefined;
  }

  #shows(found: APIExport, draft: StatusDraft): void {
    draft.set({ exportPermissionClaims: found.spec?.permissionClaims ?? [] });
    if (found.spec?.permissionClaims === undefined) delete draft.status.exportPermissionClaims;
  }

  #schemas(found: APIExport, draft: StatusDraft): WantedResource[] | undefined {
    const wanted: WantedResource[] = [];
    for (const resource of found.spec?.resources ?? []) {
      const schema = this.#options.exports.schema(clusterOf(found), resource.schema);
      if (schema === undefined) {
        const why = `${INVALID}: APIResourceSchema ${JSON.stringify(resource.schema)} not found`;
        draft.fails(EXPORT_VALID, ["Error", "InternalError", why]);
        return undefined;
      }
      wanted.push({ resource, schema });
    }
    return wanted;
  }

  async #bindAll(
    { key, draft }: Pick<Binding, "key" | "draft">,
    wanted: readonly WantedResource[],
    identityHash: string,
  ): Promise<void> {
    const conflicts = await this.#lock(key, wanted);
    if (conflicts === undefined) {
      const why = 'logicalclusters.core.kcp.io "cluster" not found';
      draft.lags(["Error", "LogicalClusterNotFound", `Unable to bind APIs: ${why}`]);
      return;
    }
    for (const { resource, schema } of wanted) {
      const { group, name } = resource;
      if (conflicts.has(lockKey({ group, resource: name }))) continue;
      const clash = this.#clash(key, schema);
      if (clash !== undefined) {
        draft.lags(["Error", "NamingConflicts", `Unable to bind APIs: ${clash}`]);
        return;
      }
      const crd = await this.#define(schema, draft);
      if (crd === undefined) return;
      bound({ resource, schema }, { crd, identityHash, draft });
    }
    if (conflicts.size > 0) {
      draft.holds(EXPORT_VALID);
      const why = `Unable to bind APIs because they are bound by other APIBindings or CRDs: ${formatConflicts(conflicts)}`;
      draft.lags(["Error", "NamingConflicts", why]);
      return;
    }
    complete(draft);
  }

  /** @returns the conflicting locks; `undefined` without a LogicalCluster */
  async #lock(
    { cluster, name }: ObjectKey,
    wanted: readonly WantedResource[],
  ): Promise<ReadonlyMap<string, Lock> | undefined> {
    const resources = wanted.map(({ resource }) => groupResourceIn(resource));
    const request: LockRequest = { name, resources, conflicts: undefined };
    const batch = this.#locking.get(cluster) ?? this.#lockSoon(cluster);
    batch.requests.push(request);
    await batch.written;
    return request.conflicts;
  }

  /** Takes the locks of all bindings that request some in this turn of the event loop, and of those that soon will. */
  #lockSoon(cluster: string): LockBatch {
    const requests: LockRequest[] = [];
    const written = setImmediate().then(() => {
      this.#locking.delete(cluster);
      return this.#takeLocks(cluster, requests);
    });
    const batch = { requests, written };
    this.#locking.set(cluster, batch);
    return batch;
  }

  async #takeLocks(cluster: string, requests: readonly LockRequest[]): Promise<void> {
    const { objects, now } = this.#options;
    await modify(objects.of(LogicalCluster), logicalClusterKey(cluster), (logicalCluster) => {
      const { metadata } = logicalCluster;
      const { annotations } = metadata;
      const text = annotations?.[RESOURCE_BINDINGS_ANNOTATION];
      const holders = holdersIn(cluster, this.#options);
      let locks = cleanedLocks(text, holders, now());
      for (const request of [...requests, ...this.#expected(cluster, requests)]) {
        const taken = takeLocks(locks, request, { crds: holders.crds, now: now() });
        locks = taken.locks;
        request.conflicts = taken.conflicts;
      }
      const locked = { ...annotations, [RESOURCE_BINDINGS_ANNOTATION]: formatLocks(locks) };
      return { ...logicalCluster, metadata: { ...metadata, annotations: locked } };
    });
  }

  /**
   * Returns the requests that new bindings of the logical cluster will make: one write has the locks of all bindings of a
   * new workspace, however busy the controller is.
   */
  #expected(cluster: string, requests: readonly LockRequest[]): LockRequest[] {
    const { state, exports } = this.#options;
    return state.apiBindings.store.list(cluster).flatMap((binding): LockRequest[] => {
      const { metadata, spec, status } = binding;
      const { name = "" } = metadata;
      if (metadata.deletionTimestamp !== undefined || (status?.phase ?? "") !== "") return [];
      const found = spec.reference.export && exports.find(spec.reference.export, cluster);
      if (found === undefined || !found.status?.identityHash || requests.some((each) => each.name === name)) return [];
      const resources = found.spec?.resources ?? [];
      if (resources.some(({ schema }) => exports.schema(clusterOf(found), schema) === undefined)) return [];
      return [{ name, resources: resources.map(groupResourceIn), conflicts: undefined }];
    });
  }

  /** Returns the conflict with another kind of the group that has one of the names. */
  #clash({ cluster, name }: ObjectKey, { spec }: APIResourceSchema): string | undefined {
    const { state, boundCrds, crds } = this.#options;
    if (spec === undefined) return undefined;
    const { group } = spec;
    const others: { readonly crd: CustomResourceDefinition; readonly by?: APIBinding }[] = [];
    for (const by of state.apiBindings.store.list(cluster)) {
      if (by.metadata.name === name) continue;
      for (const bound of by.status?.boundResources ?? []) {
        const crd = bound.group === group ? boundCrds.get(bound.schema.UID) : undefined;
        if (crd !== undefined) others.push({ crd, by });
      }
    }
    for (const crd of crds.store.list(cluster)) if (crd.spec.group === group) others.push({ crd });
    others.sort((one, other) => ((one.crd.metadata.uid ?? "") < (other.crd.metadata.uid ?? "") ? -1 : 1));
    for (const { crd, by } of others) {
      const existing = by === undefined ? (crd.status?.acceptedNames ?? { plural: "", kind: "" }) : namesOf(crd);
      const clash = existing.plural === "" ? undefined : namingConflict(spec.names, existing);
      if (clash !== undefined) return `naming conflict with ${nameOf(crd, by)}: ${clash}`;
    }
    return undefined;
  }

  async #define(schema: APIResourceSchema, draft: StatusDraft): Promise<CustomResourceDefinition | undefined> {
    try {
      return await this.#options.boundCrds.ensure(schema);
    } catch (error) {
      if (error instanceof UnboundableSchema) {
        draft.fails(EXPORT_VALID, ["Error", "InternalError", INVALID]);
        return undefined;
      }
      if (isApiError(error) && error.code === 422) {
        const named = `APIResourceSchema ${clusterOf(schema)}|${schema.metadata.name}`;
        draft.lags(["Error", "APIResourceSchemaInvalid", `${named} is invalid: ${error.message}`]);
        return undefined;
      }
      throw error;
    }
  }
}

/** Adds a resource to the bound ones. */
function bound(
  { resource, schema }: WantedResource,
  {
    crd,
    identityHash,
    draft,
  }: { readonly crd: CustomResourceDefinition; readonly identityHash: string; readonly draft: StatusDraft },
): void {
  const { uid = "", name: schemaName = "" } = schema.metadata;
  const storageVersions = resource.storage?.virtual === undefined ? [...(crd.status?.storedVersions ?? [])] : [];
  const entry = { ...groupResourceIn(resource), schema: { name: schemaName, UID: uid, identityHash } };
  draft.bound(storageVersions.length === 0 ? entry : { ...entry, storageVersions: storageVersions.sort() });
}

function complete(draft: StatusDraft): void {
  draft.holds(EXPORT_VALID);
  draft.holds(INITIAL_BINDING);
  draft.holds(UP_TO_DATE);
  draft.set({ phase: "Bound" });
}

function groupResourceIn({ group, name }: ExportedResource): GroupResource {
  return { group, resource: name };
}

const INVALID = "Invalid APIExport. Please contact the APIExport owner to resolve";

function nameOf(crd: CustomResourceDefinition, by: APIBinding | undefined): string {
  if (by === undefined) return `CustomResourceDefinition ${JSON.stringify(crd.metadata.name)}`;
  const { path = "", name } = by.spec.reference.export ?? { name: "" };
  const to = path === "" ? `local APIExport ${JSON.stringify(name)}` : `APIExport ${path}:${name}`;
  return `APIBinding ${JSON.stringify(by.metadata.name)} bound to ${to}`;
}

/** Returns why names conflict with those of another kind of the group, in kcp's words; `undefined` if they do not. */
function namingConflict(incoming: CrdNames, existing: CrdNames): string | undefined {
  const names = new Set([existing.plural, existing.singular ?? "", ...(existing.shortNames ?? [])]);
  const kinds = new Set([existing.kind, existing.listKind ?? ""]);
  const { plural, singular = "", shortNames = [], kind, listKind = "" } = incoming;
  const refused = (field: string, value: string): string => `spec.names.${field}=${value} is forbidden`;
  if (names.has(plural)) return refused("plural", plural);
  if (singular !== "" && names.has(singular)) return refused("singular", singular);
  if (shortNames.some((name) => names.has(name))) return refused("shortNames", `[${shortNames.join(" ")}]`);
  if (kinds.has(kind)) return refused("kind", kind);
  return listKind !== "" && kinds.has(listKind) ? refused("listKind", listKind) : undefined;
}
