import {
  ApiError,
  fieldRequired,
  formatCause,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf, schemaProblems } from "@virtual-workspaces/framework/resource";
import {
  type APIExport,
  type APIExportEndpointSlice,
  type APIExportV1alpha1,
  type APIResourceSchema,
  clusterOf,
} from "@virtual-workspaces/kcp";
import {
  apiExportProblems,
  apiExportToV1alpha2,
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
  isClaimable,
  type SchemaRules,
} from "@virtual-workspaces/kcp/apis";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { IsAllowed } from "../../authz/access.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { bindAttributes, type Exports } from "./exports.ts";

/** Admits APIExports of both versions (kcp's `apis.kcp.io/APIExport`, `kcp.io/PathAnnotation`). */
export function admitApiExport(state: Pick<ShardState, "logicalCluster">): Admit {
  return (request) => {
    const { definition, object, subresource } = request;
    if (object === undefined) return undefined;
    request.validate((next) => {
      const isOlder = definition.version === "v1alpha1";
      const checked = isOlder ? apiExportToV1alpha2(next as APIExportV1alpha1) : next;
      const [problem] = apiExportProblems(checked as APIExport, isClaimable);
      if (problem !== undefined) throw forbidden(request, formatCause(problem));
    });
    return subresource === "" ? withPath(request, object, { state }) : undefined;
  };
}

/** Rules that also compile the expressions of `x-kubernetes-validations` and estimate their cost. */
const RULES: SchemaRules = { schemaProblems };

/** Admits APIResourceSchemas: rejects what a CustomResourceDefinition could not be, and every change of the spec. */
export const admitApiResourceSchema: Admit = (request) => {
  const { object, oldObject } = request;
  if (object === undefined) return;
  request.validate((valid) => {
    const next = valid as APIResourceSchema;
    const problems =
      oldObject === undefined
        ? apiResourceSchemaProblems(next, RULES)
        : apiResourceSchemaUpdateProblems(next, oldObject as APIResourceSchema, RULES);
    if (problems.length > 0) throw refusedFor(request, problems);
  });
};

/** Admits APIExportEndpointSlices: the user needs the verb `bind` on the export (kcp's plugin of that name). */
export function admitEndpointSlice(exports: Exports, mayAccess: IsAllowed): Admit {
  return (request) => {
    const { object, operation, params, user } = request;
    if (object === undefined || operation !== "CREATE") return;
    request.validate(async (next) => {
      const reference = (next as APIExportEndpointSlice).spec?.export;
      if (reference === undefined || reference.name === "")
        throw refusedFor(request, [fieldRequired("spec.export.name")]);
      const { cluster = "" } = params;
      const { path = "" } = reference;
      const found = path === "" ? undefined : exports.find(reference, cluster);
      const there = path === "" ? cluster : found && clusterOf(found);
      if (there !== undefined && (await mayAccess(user, there, bindAttributes(reference.name)))) return;
      const named = path === "" ? reference.name : `${path}:${reference.name}`;
      throw forbidden(request, `unable to create APIExportEndpointSlice: no permission to bind to export ${named}`);
    });
  };
}

type State = Pick<ShardState, "logicalCluster">;

/** Returns the canonical path of a LogicalCluster; defaults to its name. `undefined` if it does not exist. */
export function canonicalPath(state: State, cluster: string): string | undefined {
  const there = state.logicalCluster(cluster);
  return there && (there.metadata.annotations?.[PATH_ANNOTATION] ?? cluster);
}

/**
 * Sets the annotation `kcp.io/path` to the path of the object's logical cluster, whatever the client sent (kcp's
 * `kcp.io/PathAnnotation`).
 *
 * @throws ApiError 403 without a LogicalCluster, unless the annotation is optional
 */
export function withPath<T extends KubeObject>(
  request: AdmitRequest,
  object: T,
  { state, optional = false }: { readonly state: State; readonly optional?: boolean },
): T {
  const { cluster = "" } = request.params;
  const path = canonicalPath(state, cluster);
  if (path === undefined) {
    if (optional) return object;
    throw forbidden(request, 'cannot get this workspace: logicalclusters.core.kcp.io "cluster" not found');
  }
  const { annotations } = object.metadata;
  if (annotations?.[PATH_ANNOTATION] === path) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [PATH_ANNOTATION]: path } } };
}

/** Returns a 403 error with a message in the form of kcp's admission. */
export function forbidden({ definition, object, oldObject }: AdmitRequest, message: string): ApiError {
  const { name } = (object ?? oldObject)?.metadata ?? {};
  return ApiError.forbidden({ resource: groupResourceOf(definition), name, message });
}

/** Returns a 403 error with a list of causes, formatted as Go does: `[a b]`. */
export function refusedFor(request: AdmitRequest, problems: readonly StatusCause[]): ApiError {
  return forbidden(request, `[${problems.map(formatCause).join(" ")}]`);
}
