import { fieldInvalid, formatCause } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  APIS_GROUP,
  RESERVED_WORKSPACE_TYPE_NAMES,
  ROOT_CLUSTER,
  type WorkspaceType,
  type WorkspaceTypeSpec,
} from "@virtual-workspaces/kcp";
import { joined } from "../model/workspace-types.ts";
import { type AdmissionContext, readiness, refused, writtenCluster } from "./admission-context.ts";

/** An entry of a type's `defaultAPIBindings`. */
type DefaultBinding = NonNullable<WorkspaceTypeSpec["defaultAPIBindings"]>[number];

/**
 * Admits writes of WorkspaceTypes (kcp's plugins `tenancy.kcp.io/WorkspaceType` and `apis.kcp.io/ReservedNames`). Security: a
 * user who names a default export needs permission to bind it, since the server later binds it for others.
 */
export function admitWorkspaceType(context: AdmissionContext): Admit<WorkspaceType> {
  const checkReady = readiness(context.shard.state);
  return (request) => {
    const { operation, object, oldObject } = request;
    const about = request as unknown as AdmitRequest;
    if (operation === "DELETE" || object === undefined) return;
    checkName(object, about);
    request.validate(async ({ spec = {} }) => {
      checkPaths(spec, about);
      const before = oldObject?.spec?.defaultAPIBindings ?? [];
      const bindings = spec.defaultAPIBindings ?? [];
      if (bindings.length > 0) checkReady(about);
      for (const binding of bindings) {
        if (before.some((known) => isSame(known, binding))) continue;
        if (!(await mayBind(context, about, binding))) {
          const name = joined(binding.path ?? "", binding.export);
          const why = `no permission to bind to export ${name}`;
          throw refused(about, `unable to create or update WorkspaceType: ${why}`);
        }
      }
    });
  };
}

function checkName({ metadata }: WorkspaceType, request: AdmitRequest): void {
  const { name = "" } = metadata;
  if (request.operation === "CREATE" && RESERVED_WORKSPACE_TYPE_NAMES.includes(name))
    throw refused(request, formatCause(fieldInvalid("metadata.name", name, "name is reserved")));
  if (name === "root" && writtenCluster(request) !== ROOT_CLUSTER)
    throw refused(request, "root workspace type can only be created in root cluster");
}

function checkPaths(spec: WorkspaceTypeSpec, request: AdmitRequest): void {
  const { defaultChildWorkspaceType: child } = spec;
  if (child !== undefined && !child.path) throw refused(request, ".spec.defaultChildWorkspaceType.path must be set");
  for (const field of ["limitAllowedChildren", "limitAllowedParents"] as const) {
    const at = (spec[field]?.types ?? []).findIndex(({ path }) => !path);
    if (at !== -1) throw refused(request, `.spec.${field}.types[${at}].path must be set`);
  }
}

function isSame(one: DefaultBinding, other: DefaultBinding): boolean {
  return one.export === other.export && (one.path ?? "") === (other.path ?? "");
}

/** Denies a missing workspace too. Security: users cannot probe which ones exist. */
async function mayBind(
  { shard, isAllowed }: AdmissionContext,
  request: AdmitRequest,
  { path, export: name }: DefaultBinding,
): Promise<boolean> {
  const cluster = path ? await clusterAt(shard, path) : writtenCluster(request);
  if (cluster === undefined) return false;
  const access = { verb: "bind", group: APIS_GROUP, version: "v1alpha1", resource: "apiexports", name };
  return isAllowed(request.user, cluster, access);
}

async function clusterAt({ registry }: AdmissionContext["shard"], path: string): Promise<string | undefined> {
  await registry.reach(path);
  const found = registry.index.lookup(path);
  return found.kind === "cluster" ? found.cluster : undefined;
}
