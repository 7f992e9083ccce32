import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp";
import type { ShardState } from "../../state/shard-state.ts";
import { forbidden } from "./refusals.ts";

type State = Pick<ShardState, "logicalCluster">;

/** The canonical path of a logical cluster: what its LogicalCluster says, or its name. `undefined` if there is none. */
export function canonicalPath(state: State, cluster: string): string | undefined {
  const there = state.logicalCluster(cluster);
  return there && (there.metadata.annotations?.[PATH_ANNOTATION] ?? cluster);
}

/**
 * An object whose annotation `kcp.io/path` is the path of its logical cluster, whatever the client said (kcp's
 * `kcp.io/PathAnnotation`).
 *
 * @throws ApiError 403 where there is no LogicalCluster, unless the object may do without
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
