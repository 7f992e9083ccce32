import { ApiError, isClusterName, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { exportedKey } from "@virtual-workspaces/kcp/informers";
import { type ProxyKey, proxyKeyText } from "../protocol/proxy-key.ts";

/** ClusterProxies of a shard, and the paths of their workspaces. Memory: the objects and the paths. */
export class ProxyCache {
  readonly #objects = new Map<string, ClusterProxy>();
  /** Number of ClusterProxies by logical cluster. */
  readonly #counts = new Map<string, number>();
  /** Logical clusters by path. */
  readonly #clusters = new Map<string, string>();
  readonly #paths = new Map<string, string>();
  readonly #found: (cluster: string) => void;

  /** @param found is called with each logical cluster that gets its first ClusterProxy, and calls {@link setPath} */
  constructor(found: (cluster: string) => void) {
    this.#found = found;
  }

  get(key: ProxyKey): ClusterProxy | undefined {
    return this.#objects.get(proxyKeyText(key));
  }

  set(proxy: ClusterProxy): void {
    const { cluster, name } = exportedKey(proxy);
    const text = proxyKeyText({ cluster, name });
    const isNew = !this.#objects.has(text);
    this.#objects.set(text, proxy);
    if (!isNew) return;
    const count = this.#counts.get(cluster) ?? 0;
    this.#counts.set(cluster, count + 1);
    if (count === 0) this.#found(cluster);
  }

  delete({ cluster, name }: ObjectKey): void {
    if (!this.#objects.delete(proxyKeyText({ cluster, name }))) return;
    const left = (this.#counts.get(cluster) ?? 1) - 1;
    if (left > 0) {
      this.#counts.set(cluster, left);
      return;
    }
    this.#counts.delete(cluster);
    this.setPath(cluster, undefined);
  }

  /** Whether a logical cluster has ClusterProxies. */
  has(cluster: string): boolean {
    return this.#counts.has(cluster);
  }

  /**
   * Returns the logical cluster of a path or name, whether or not it exists. Security: an unknown path gets the response of a workspace
   * without rights, so that callers do not learn which workspaces have ClusterProxies.
   */
  locate(said: string): string {
    return this.#clusters.get(said) ?? (isClusterName(said) ? said : NO_WORKSPACE);
  }

  /** Notes the path of a logical cluster with ClusterProxies, or that it has none. */
  setPath(cluster: string, path: string | undefined): void {
    const before = this.#paths.get(cluster);
    if (before === path) return;
    if (before !== undefined && this.#clusters.get(before) === cluster) this.#clusters.delete(before);
    if (path === undefined) this.#paths.delete(cluster);
    else {
      this.#paths.set(cluster, path);
      this.#clusters.set(path, cluster);
    }
  }
}

/** Name of no logical cluster: kcp's are `root`, `system:…` or have no hyphen. */
const NO_WORKSPACE = "no-such-workspace";

/** Returns the ClusterProxy of a URL. @throws ApiError 404 */
export function requireProxy(proxy: ClusterProxy | undefined, { name }: Pick<ProxyKey, "name">): ClusterProxy {
  if (proxy !== undefined) return proxy;
  throw ApiError.notFound({ group: ClusterProxy.group, resource: ClusterProxy.plural }, name);
}
