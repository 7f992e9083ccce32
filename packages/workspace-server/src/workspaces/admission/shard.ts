import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit } from "@virtual-workspaces/framework";
import type { Shard } from "@virtual-workspaces/kcp";

/** The rules about Shards (kcp's plugin `core.kcp.io/Shard`): where users and views find one is where it is, unless it says more. */
export function admitShard(): Admit<Shard> {
  return ({ operation, object }) => {
    if (operation === "DELETE" || object === undefined) return undefined;
    const { baseURL = "" } = object.spec ?? {};
    if (baseURL === "") throw ApiError.internalError("spec.baseURL is required");
    const { externalURL = baseURL, virtualWorkspaceURL = baseURL } = object.spec ?? {};
    return { ...object, spec: { ...object.spec, baseURL, externalURL, virtualWorkspaceURL } };
  };
}
