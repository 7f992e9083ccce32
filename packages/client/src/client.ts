import { ApiError, isWorkspacePath, type KindReference, WILDCARD } from "@virtual-workspaces/apimachinery";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { onceEach } from "./callbacks.ts";
import { Discovery } from "./discovery/discovery.ts";
import { clusterIn, splitCluster } from "./http/cluster-url.ts";
import type { Impersonation } from "./http/impersonation.ts";
import { impersonationHeaders } from "./http/impersonation.ts";
import { Requests } from "./http/requests.ts";
import { defaultRetries, type RetryOptions } from "./http/retry.ts";
import type { KubeconfigOptions } from "./kubeconfig/config.ts";
import { type IdentityOptions, ResourceClient } from "./resource/resource-client.ts";

/** Server, logical cluster and identity of a {@link Client}. */
export interface ClientOptions {
  /**
   * API server. The client closes an upstream that it creates from options, but not one that the caller passes. A URL
   * may end with `/clusters/<path>`, which becomes `cluster`.
   */
  readonly upstream: Upstream | UpstreamOptions;
  /** Logical cluster: a cluster name, a workspace path, or `*`. @default the server's URL, unchanged */
  readonly cluster?: string;
  /**
   * Path below the server's URL that holds logical clusters, such as `/services/cache/shards/*` of kcp's cache server.
   * Requires `cluster`. @default the URL itself
   */
  readonly path?: string;
  readonly impersonate?: Impersonation;
  /** Field manager of writes. @default "virtual-workspaces" */
  readonly fieldManager?: string;
  /** Called for each `Warning` header, once for each of the last 1,000 texts. @default warnings are dropped */
  readonly onWarning?: (text: string) => void;
  /** Retry policy; `false` disables retries. @default {@link RetryOptions} */
  readonly retries?: RetryOptions | false;
}

/**
 * Client of one API server. A client is immutable: `cluster` and `as` return another client over the same connections,
 * so that callers share no mutable state.
 *
 * @example
 * ```ts
 * import { Client } from "@virtual-workspaces/client";
 * import { defineResource } from "@virtual-workspaces/framework";
 *
 * const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
 *
 * await using client = await Client.fromKubeconfig();
 * const maps = client.cluster("root:shop").resource(ConfigMap).in("default");
 * await maps.apply({ metadata: { name: "colours" }, data: { door: "green" } });
 * for (const { metadata } of (await maps.list()).items) console.log(metadata.name);
 * ```
 * @see docs/how-to/client.md
 */
export class Client implements AsyncDisposable {
  readonly upstream: Upstream;
  /** Logical cluster: a name or path, `*` for all, or "" if neither the options nor the URL name one. */
  readonly clusterName: string;
  readonly #options: ClientOptions;
  readonly #requests: Requests;
  readonly #owned: boolean;
  #discovery: Discovery | undefined;

  /** @throws Error for an invalid URL; ApiError 400 for an invalid cluster */
  constructor({ onWarning, ...options }: ClientOptions) {
    const { upstream, impersonate, retries } = options;
    this.#options = onWarning === undefined ? options : { ...options, onWarning: onceEach(onWarning) };
    this.#owned = !(upstream instanceof Upstream);
    const place = upstream instanceof Upstream ? { upstream, cluster: "" } : splitCluster(upstream);
    this.upstream = place.upstream instanceof Upstream ? place.upstream : new Upstream(place.upstream);
    const fixed = clusterIn(this.upstream.url);
    const cluster = options.cluster ?? place.cluster;
    if (cluster !== "") checkCluster(cluster, fixed);
    const { path = "" } = options;
    if (path !== "" && (cluster === "" || !/^(?:\/[^/?#]+)+$/.test(path)))
      throw ApiError.badRequest(
        `invalid path ${JSON.stringify(path)}: use segments that each start with a slash, and set cluster`,
      );
    this.clusterName = cluster === "" ? fixed : cluster;
    this.#requests = new Requests({
      upstream: this.upstream,
      prefix: cluster === "" ? "" : `${path}/clusters/${cluster}`,
      headers: impersonate === undefined ? [] : impersonationHeaders(impersonate),
      onWarning: this.#options.onWarning,
      retries: retries === false ? false : { ...defaultRetries, ...retries },
    });
  }

  /**
   * Creates a client as `kubectl` does: from a kubeconfig, or from the service account of the pod.
   *
   * @throws Error for an invalid configuration, with the file, context and field, but never with a secret
   */
  static async fromKubeconfig(
    options: KubeconfigOptions & Omit<ClientOptions, "upstream" | "impersonate"> = {},
  ): Promise<Client> {
    const { file, contents, context, overrides, env, serviceAccount, ...rest } = options;
    const { loadKubeconfig } = await import("./kubeconfig/load.ts");
    const from = { file, contents, context, overrides, env, serviceAccount };
    const { upstream, cluster, impersonate } = await loadKubeconfig(from);
    return new Client({
      ...(cluster !== undefined && { cluster }),
      ...(impersonate && { impersonate }),
      ...rest,
      upstream,
    });
  }

  /**
   * Returns a client of another logical cluster of the same server.
   *
   * @param path a cluster name, a workspace path, or `*` for all
   * @throws ApiError 400 for anything else
   */
  cluster(path: string): Client {
    if (path === "") throw ApiError.badRequest(`invalid cluster "": ${CLUSTER_PROBLEM}`);
    return new Client({ ...this.#options, upstream: this.upstream, cluster: path });
  }

  /** Returns a client of the same server and logical cluster that impersonates another identity. */
  as(identity: Impersonation): Client {
    return new Client({ ...this.#options, ...this.#place(), upstream: this.upstream, impersonate: identity });
  }

  /**
   * Returns the client of one kind: the result of `defineResource`, or `{ group, version, kind, plural, scope }`.
   *
   * @throws ApiError 400 for an invalid kind or identity
   */
  resource<T extends object = object>(kind: KindReference<T>, options: IdentityOptions = {}): ResourceClient<T> {
    return new ResourceClient<T>({ ...options, kind, ...this.#asking });
  }

  /**
   * Returns a read-only client for the metadata of a kind's objects (`PartialObjectMetadata`, client-go's `metadata`
   * client). Across all logical clusters (`*`), kcp returns the objects of every definition with that name, without an
   * identity.
   *
   * @throws ApiError 400 for an invalid kind
   */
  metadata(kind: Omit<KindReference, "type">): ResourceClient {
    const { plural, scope } = kind;
    const metadata = { group: "meta.k8s.io", version: "v1", kind: "PartialObjectMetadata", plural, scope };
    return new ResourceClient({ kind: metadata, metadataOf: kind, ...this.#asking });
  }

  /** Returns the discovery of this server. Each client has one, which caches its results. */
  discovery(): Discovery {
    this.#discovery ??= new Discovery(this.#requests);
    return this.#discovery;
  }

  /** Closes the connections, if this client created them. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }

  get #asking(): { readonly requests: Requests; readonly cluster: string; readonly fieldManager: string } {
    const { fieldManager = "virtual-workspaces" } = this.#options;
    return { requests: this.#requests, cluster: this.clusterName, fieldManager };
  }

  /** Keeps the cluster that the constructor split off the URL. */
  #place(): { readonly cluster?: string } {
    return clusterIn(this.upstream.url) === "" && this.clusterName !== "" ? { cluster: this.clusterName } : {};
  }
}

const CLUSTER_PROBLEM = "use a cluster name, a workspace path like root:org, or * for all logical clusters";

function checkCluster(cluster: string, fixed: string): void {
  if (cluster !== WILDCARD && !isWorkspacePath(cluster))
    throw ApiError.badRequest(`invalid cluster ${JSON.stringify(cluster)}: ${CLUSTER_PROBLEM}`);
  if (fixed !== "")
    throw ApiError.badRequest(
      `invalid cluster ${JSON.stringify(cluster)}: remove /clusters/${fixed} from the end of the upstream's URL`,
    );
}
