import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { APIS_GROUP, CACHE_GROUP, CORE_GROUP, PATH_ANNOTATION, TENANCY_GROUP } from "@virtual-workspaces/kcp";
import type { ShardContext } from "../../state/context.ts";
import { pathOf } from "../model/keys.ts";
import { NO_LOGICAL_CLUSTER, refused, writtenCluster } from "./admission-context.ts";

const BINDINGS = `apibindings.${APIS_GROUP}`;

/** The kinds that are found by their path. */
const ALWAYS: ReadonlySet<string> = new Set([
  BINDINGS,
  `apiexports.${APIS_GROUP}`,
  `clustercachedresources.${CACHE_GROUP}`,
  `workspacetypes.${TENANCY_GROUP}`,
]);

/**
 * Where objects say that they are (kcp's plugin `kcp.io/PathAnnotation`): exports, bindings and workspace types are told, and
 * what else says it is put right. For all kinds, before their other rules.
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
      // Bindings may come before what they are in.
      if (resource === BINDINGS) return undefined;
      throw refused(request, `cannot get this workspace: ${NO_LOGICAL_CLUSTER}`);
    }
    const path = pathOf(cluster);
    if (said === path) return undefined;
    const annotations = { ...object.metadata.annotations, [PATH_ANNOTATION]: path };
    return { ...object, metadata: { ...object.metadata, annotations } };
  };
}
