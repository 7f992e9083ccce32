import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  APIS_GROUP,
  CACHE_GROUP,
  CORE_GROUP,
  LogicalCluster,
  ROOT_CLUSTER,
  Shard,
  TENANCY_GROUP,
  Workspace,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ShardContext } from "../../state/context.ts";
import type { ShardRegistry } from "../../state/shard-registry.ts";
import { IN_PROCESS_ANNOTATION, isInProcess } from "../../state/shard-registry.ts";
import { pathOf } from "../model/workspace-types.ts";
import { type AdmissionContext, NO_LOGICAL_CLUSTER, refused, writtenCluster } from "./admission-context.ts";
import { admitLogicalCluster } from "./admit-logical-cluster.ts";
import { admitWorkspace } from "./admit-workspace.ts";
import { admitWorkspaceType } from "./admit-workspace-type.ts";

/** Returns the admission rules of Workspaces and related kinds, by plural. */
export function workspaceAdmissions(context: AdmissionContext): ReadonlyMap<string, Admit> {
  return new Map<string, unknown>([
    [Workspace.plural, admitWorkspace(context)],
    [WorkspaceType.plural, admitWorkspaceType(context)],
    [LogicalCluster.plural, admitLogicalCluster()],
    [Shard.plural, admitShard(context.shard.registry)],
  ]) as ReadonlyMap<string, Admit>;
}

/**
 * Admits Shards (kcp's plugin `core.kcp.io/Shard`): the URLs for users and views default to the base URL. The server itself
 * sets the URLs of shards that it runs, which always remain its own.
 */
export function admitShard({ runsShards }: Pick<ShardRegistry, "runsShards"> = { runsShards: false }): Admit<Shard> {
  return (request) => {
    const { operation, object, oldObject, subresource } = request;
    if (operation === "DELETE" || object === undefined || subresource !== "") return undefined;
    const runs = runsShards && writtenCluster(request) === ROOT_CLUSTER;
    if (runs && oldObject !== undefined && isInProcess(object) !== isInProcess(oldObject))
      throw refused(
        request,
        `the annotation ${IN_PROCESS_ANNOTATION} cannot be changed: set it when you create the Shard`,
      );
    // The name is also a label value.
    if (runs && isInProcess(object) && (object.metadata.name?.length ?? 0) > 63)
      throw refused(request, "the name of a shard that the server runs has at most 63 characters");
    const { baseURL = "" } = object.spec ?? {};
    if (baseURL === "" && runs && isInProcess(object)) return undefined;
    if (baseURL === "") throw ApiError.internalError("spec.baseURL is required");
    const { externalURL = baseURL, virtualWorkspaceURL = baseURL } = object.spec ?? {};
    return { ...object, spec: { ...object.spec, baseURL, externalURL, virtualWorkspaceURL } };
  };
}

const BINDINGS = `apibindings.${APIS_GROUP}`;

/** Kinds that others refer to by path. */
const ALWAYS: ReadonlySet<string> = new Set([
  BINDINGS,
  `apiexports.${APIS_GROUP}`,
  `clustercachedresources.${CACHE_GROUP}`,
  `workspacetypes.${TENANCY_GROUP}`,
]);

/**
 * Sets the path annotation of exports, bindings and workspace types, and corrects it on other kinds (kcp's plugin
 * `kcp.io/PathAnnotation`). It runs for all kinds, after their own rules and webhooks.
 */
export function admitPathAnnotation({ state }: Pick<ShardContext, "state">): Admit {
  return (request: AdmitRequest) => {
    const { operation, definition, object } = request;
    if (operation === "DELETE" || object === undefined) return undefined;
    const resource = `${definition.plural}.${definition.group}`;
    const said = object.metadata.annotations?.[PATH_ANNOTATION];
    if (resource === `logicalclusters.${CORE_GROUP}`) return undefined;
    if (said === undefined && !ALWAYS.has(resource)) return undefined;
    const cluster = state.logicalCluster(writtenCluster(request));
    if (cluster === undefined) {
      // Bindings may precede their LogicalCluster.
      if (resource === BINDINGS) return undefined;
      throw refused(request, `cannot get this workspace: ${NO_LOGICAL_CLUSTER}`);
    }
    const path = pathOf(cluster);
    if (said === path) return undefined;
    const annotations = { ...object.metadata.annotations, [PATH_ANNOTATION]: path };
    return { ...object, metadata: { ...object.metadata, annotations } };
  };
}
