import { ApiError } from "@virtual-workspaces/apimachinery";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import type { ProxyKey } from "./proxy-key.ts";

/** What a URL names. @throws ApiError 404 */
export function found(proxy: ClusterProxy | undefined, { name }: Pick<ProxyKey, "name">): ClusterProxy {
  if (proxy !== undefined) return proxy;
  throw ApiError.notFound({ group: ClusterProxy.group, resource: ClusterProxy.plural }, name);
}
