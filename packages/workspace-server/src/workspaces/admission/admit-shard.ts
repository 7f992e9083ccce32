import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit } from "@virtual-workspaces/framework";
import { ROOT_CLUSTER, type Shard } from "@virtual-workspaces/kcp";
import type { Installation } from "../../state/shard-registry.ts";
import { IN_PROCESS_ANNOTATION, isInProcess } from "../../state/in-process-shards.ts";
import { refused, writtenCluster } from "./admission-context.ts";

/**
 * The rules about Shards (kcp's plugin `core.kcp.io/Shard`): where users and views find one is where it is, unless it says more.
 * One that the server is to run is told where it is by the server, and never becomes another's.
 */
export function admitShard({ runsShards }: Pick<Installation, "runsShards"> = { runsShards: false }): Admit<Shard> {
  return (request) => {
    const { operation, object, oldObject, subresource } = request;
    if (operation === "DELETE" || object === undefined || subresource !== "") return undefined;
    const runs = runsShards && writtenCluster(request) === ROOT_CLUSTER;
    if (runs && oldObject !== undefined && isInProcess(object) !== isInProcess(oldObject))
      throw refused(request, `the annotation ${IN_PROCESS_ANNOTATION} is given when a shard is created, and stays`);
    // It is the value of a label.
    if (runs && isInProcess(object) && (object.metadata.name?.length ?? 0) > 63)
      throw refused(request, "the name of a shard that the server runs has at most 63 characters");
    const { baseURL = "" } = object.spec ?? {};
    if (baseURL === "" && runs && isInProcess(object)) return undefined;
    if (baseURL === "") throw ApiError.internalError("spec.baseURL is required");
    const { externalURL = baseURL, virtualWorkspaceURL = baseURL } = object.spec ?? {};
    return { ...object, spec: { ...object.spec, baseURL, externalURL, virtualWorkspaceURL } };
  };
}
