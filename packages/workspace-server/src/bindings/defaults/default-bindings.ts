import type { ObjectKey } from "@virtual-workspaces/apimachinery";
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

/** What {@link BoundByDefault} is made of. */
export interface BoundByDefaultOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly exports: Exports;
  readonly typesOf: TypesOf;
}

/** An export that is bound by default, and is there. */
export interface DefaultBinding {
  readonly wanted: DefaultExport;
  readonly found: APIExport;
  /** As {@link acceptedClaims} has it. */
  readonly own: boolean;
}

/** The bindings that workspaces are to have by their types: which they are, which are there, and making one. */
export class BoundByDefault {
  readonly #options: BoundByDefaultOptions;

  constructor(options: BoundByDefaultOptions) {
    this.#options = options;
  }

  /** What its types bind, or why that is not known. */
  wantedBy({ metadata }: LogicalClusterObject): readonly DefaultExport[] | TypeFault {
    const type = metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
    try {
      return type === undefined ? [] : defaultExports(typesFrom(type, this.#options.typesOf));
    } catch (error) {
      if (error instanceof TypeFault) return error;
      throw error;
    }
  }

  /** Whether a shard that does not run may have what is not found. */
  isUnknown(cluster: string, wanted: readonly DefaultExport[] | TypeFault): boolean {
    const { exports } = this.#options;
    const isFound = !(wanted instanceof TypeFault) && wanted.every((each) => exports.find(each, cluster) !== undefined);
    return !isFound && exports.missing.length > 0;
  }

  /** Whether there is any binding to the export, whatever its name. */
  has(cluster: string, wanted: DefaultExport): boolean {
    return this.#bindingTo(cluster, wanted) !== undefined;
  }

  /** Makes the binding to an export as the server, unless there is one of its name. */
  async ensure({ cluster }: ObjectKey, to: DefaultBinding): Promise<void> {
    const { objects, state, exports } = this.#options;
    const path = canonicalPath(state, cluster);
    await ensure(objects.of(APIBinding), { cluster, namespace: "", name: nameOf(cluster, to.wanted) }, () => ({
      metadata: {
        finalizers: [API_BINDING_FINALIZER],
        labels: { [BINDING_EXPORT_LABEL]: exports.hashOf(to.found) },
        ...(path !== undefined && { annotations: { [PATH_ANNOTATION]: path } }),
      },
      spec: specTo(to),
    }));
  }

  /** What is not there yet or not all done, as people are told. */
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

  #bindingTo(cluster: string, wanted: DefaultExport): APIBindingObject | undefined {
    return this.#options.state.apiBindings.store.list(cluster).find(({ spec }) => {
      const { path = cluster, name } = spec.reference.export ?? { name: "" };
      return path === wanted.path && name === wanted.name;
    });
  }
}

/** What the binding to an export that is bound by default is called. */
export function nameOf(cluster: string, { path, name }: DefaultExport): string {
  return defaultBindingName({ cluster, exportPath: path, exportName: name });
}

/** What the binding to it says. */
export function specTo({ wanted, found, own }: DefaultBinding): APIBindingObject["spec"] {
  const claims = acceptedClaims(found, own);
  return { reference: { export: wanted }, ...(claims.length > 0 && { permissionClaims: claims }) };
}

/** An export that is bound by default. */
export interface DefaultExport {
  /** A workspace path, or the name of the logical cluster of the type. */
  readonly path: string;
  readonly name: string;
}

/** The exports that types bind by default, each once; without a path it is one of the type's own workspace. */
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
 * All claims of an export accepted, as it proposes.
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
