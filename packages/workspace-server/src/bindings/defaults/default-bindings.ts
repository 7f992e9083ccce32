import { apiVersionOf, CLUSTER_ANNOTATION, type ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  APIBinding,
  type APIBinding as APIBindingObject,
  type APIExport,
  clusterOf,
  defaultBindingName,
  type LogicalCluster as LogicalClusterObject,
  TypeFault,
  type TypesOf,
  typesFrom,
  type WorkspaceType,
} from "@virtual-workspaces/kcp";
import { isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import {
  API_BINDING_FINALIZER,
  BINDING_EXPORT_LABEL,
  PATH_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { ensure } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { CLAIMS_APPLIED, INITIAL_BINDING } from "../binding/draft.ts";
import { canonicalPath } from "../exports/admit-exports.ts";
import { type Exports, exportText } from "../exports/exports.ts";

/** Options of {@link BoundByDefault}. */
export interface BoundByDefaultOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly exports: Exports;
  readonly typesOf: TypesOf;
  /** Returns a new binding as it is created: bound already where nothing else has to be written. */
  readonly created: (binding: APIBindingObject, key: ObjectKey) => APIBindingObject;
}

/** Export to bind by default, which exists. */
export interface DefaultBinding {
  readonly wanted: DefaultExport;
  readonly found: APIExport;
  /** Whether claims keep their own selector: see {@link acceptedClaims}. */
  readonly own: boolean;
}

/** Default bindings of workspaces, by their types: lists the wanted and the existing ones, and creates them. */
export class BoundByDefault {
  readonly #options: BoundByDefaultOptions;

  constructor(options: BoundByDefaultOptions) {
    this.#options = options;
  }

  /** Returns the exports that the workspace's types bind, or why they are unknown. */
  wantedBy({ metadata }: LogicalClusterObject): readonly DefaultExport[] | TypeFault {
    const type = metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
    try {
      return type === undefined ? [] : defaultExports(typesFrom(type, this.#options.typesOf));
    } catch (error) {
      if (error instanceof TypeFault) return error;
      throw error;
    }
  }

  /** Reports whether something not found may be on a shard that does not run. */
  isUnknown(cluster: string, wanted: readonly DefaultExport[] | TypeFault): boolean {
    const { exports } = this.#options;
    const isFound = !(wanted instanceof TypeFault) && wanted.every((each) => exports.find(each, cluster) !== undefined);
    return !isFound && exports.missing.length > 0;
  }

  /** Reports whether there is a binding to the export, of any name. */
  has(cluster: string, wanted: DefaultExport): boolean {
    return this.#bindingTo(cluster, wanted) !== undefined;
  }

  /** Creates the binding to an export as the server, unless a binding of its name exists. */
  async ensure({ cluster }: ObjectKey, to: DefaultBinding): Promise<void> {
    const { objects, state, exports } = this.#options;
    const path = canonicalPath(state, cluster);
    const key = { cluster, namespace: "", name: nameOf(cluster, to.wanted) };
    await ensure(objects.of(APIBinding), key, () => {
      const metadata = {
        finalizers: [API_BINDING_FINALIZER],
        labels: { [BINDING_EXPORT_LABEL]: exports.hashOf(to.found) },
        annotations: { [CLUSTER_ANNOTATION]: cluster, ...(path !== undefined && { [PATH_ANNOTATION]: path }) },
      };
      const drafted = { apiVersion: apiVersionOf(APIBinding), kind: APIBinding.kind, metadata, spec: specTo(to) };
      return this.#options.created(drafted, key);
    });
  }

  /** Returns the bindings that are missing or not complete, as text for conditions. */
  pending(cluster: string, wanted: readonly DefaultExport[]): string[] {
    return wanted
      .flatMap((each) => {
        const binding = this.#bindingTo(cluster, each);
        if (binding === undefined) return [`for APIExport ${exportText(each, cluster)}`];
        const { name = "" } = binding.metadata;
        const { conditions } = binding.status ?? {};
        if (!isConditionTrue(conditions, INITIAL_BINDING)) return [name];
        const claims = binding.spec.permissionClaims?.some(({ state }) => state === "Accepted") === true;
        if (!claims || isConditionTrue(conditions, CLAIMS_APPLIED)) return [];
        return [`${name} waiting for permission claims to be applied`];
      })
      .sort();
  }

  /** Returns the time at which the newest of these bindings was created, in milliseconds since 1970; 0 without one. */
  newest(cluster: string, wanted: readonly DefaultExport[]): number {
    const times = wanted.map((each) => Date.parse(this.#bindingTo(cluster, each)?.metadata.creationTimestamp ?? ""));
    return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
  }

  #bindingTo(cluster: string, wanted: DefaultExport): APIBindingObject | undefined {
    return this.#options.state.apiBindings.store.list(cluster).find(({ spec }) => {
      const { path = cluster, name } = spec.reference.export ?? { name: "" };
      return path === wanted.path && name === wanted.name;
    });
  }
}

/** Returns the name of the default binding to an export. */
export function nameOf(cluster: string, { path, name }: DefaultExport): string {
  return defaultBindingName({ cluster, exportPath: path, exportName: name });
}

/** Returns the spec of a default binding. */
export function specTo({ wanted, found, own }: DefaultBinding): APIBindingObject["spec"] {
  const claims = acceptedClaims(found, own);
  return { reference: { export: wanted }, ...(claims.length > 0 && { permissionClaims: claims }) };
}

/** Reference to an export that is bound by default. */
export interface DefaultExport {
  /** Workspace path, or the name of the type's logical cluster. */
  readonly path: string;
  readonly name: string;
}

/** Returns the exports that types bind by default, each once; without a path, an export is in the type's own workspace. */
export function defaultExports(types: readonly WorkspaceType[]): DefaultExport[] {
  const found = new Map<string, DefaultExport>();
  for (const type of types)
    for (const { path: given = "", export: name } of type.spec?.defaultAPIBindings ?? []) {
      const path = given === "" ? clusterOf(type) : given;
      found.set(`${path}|${name}`, { path, name });
    }
  return [...found.values()];
}

/**
 * Accepts all claims of an export as proposed.
 *
 * @param own whether claims keep their own `defaultSelector`, as with kcp's initializer
 */
function acceptedClaims({ spec }: APIExport, own: boolean): NonNullable<APIBinding["spec"]["permissionClaims"]> {
  return (spec?.permissionClaims ?? []).map(({ defaultSelector, ...claim }) => ({
    ...claim,
    ...(own && defaultSelector !== undefined && { defaultSelector }),
    selector: defaultSelector ?? { matchAll: true },
    state: "Accepted" as const,
  }));
}
