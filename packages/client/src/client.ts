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

/** Which server a client asks, where in it, and as whom. */
export interface ClientOptions {
  /**
   * The server. What is made of options here is closed with the client, what is given is not. A URL may end with
   * `/clusters/<path>`, which is taken for `cluster`.
   */
  readonly upstream: Upstream | UpstreamOptions;
  /** The logical cluster, by name or workspace path, or `*`. @default the server's URL is used as it is */
  readonly cluster?: string;
  /**
   * Where logical clusters are below the server's URL, `/services/cache/shards/*` for what kcp's shards tell one another. Only
   * with a `cluster`. @default below the URL itself
   */
  readonly path?: string;
  readonly impersonate?: Impersonation;
  /** Who the fields belong to that writes set. @default "virtual-workspaces" */
  readonly fieldManager?: string;
  /** Told of each `Warning` that the server sends, once for each of the last 1,000 texts. @default they are dropped */
  readonly onWarning?: (text: string) => void;
  /** What is sent again; `false` for nothing. @default {@link RetryOptions} */
  readonly retries?: RetryOptions | false;
}

/**
 * A client of one API server. Immutable: `cluster` and `as` give another one over the same connections, so that no two
 * callers share anything that one of them could change.
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
  /** The logical cluster, `*` for all, or "" where the URL names none. */
  readonly clusterName: string;
  readonly #options: ClientOptions;
  readonly #requests: Requests;
  readonly #owned: boolean;
  #discovery: Discovery | undefined;

  /** @throws Error on a URL that cannot be used; ApiError 400 on a cluster that is none */
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
        `path: give segments, each with a slash before it, and a cluster; it is ${JSON.stringify(path)}`,
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
   * A client as `kubectl` would be one here: by a kubeconfig, or as the pod that this is.
   *
   * @throws Error on a configuration that cannot be used: with its file, context and field, and never with what is secret in it
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
   * The same server, another logical cluster.
   *
   * @param path a name, a workspace path, or `*` for all
   * @throws ApiError 400 on what is none of these
   */
  cluster(path: string): Client {
    if (path === "") throw ApiError.badRequest(CLUSTER_PROBLEM);
    return new Client({ ...this.#options, upstream: this.upstream, cluster: path });
  }

  /** The same server and logical cluster, as somebody else. */
  as(identity: Impersonation): Client {
    return new Client({ ...this.#options, ...this.#place(), upstream: this.upstream, impersonate: identity });
  }

  /**
   * The objects of a kind: what `defineResource` gives, or `{ group, version, kind, plural, scope }`.
   *
   * @throws ApiError 400 on what is no kind, and an identity that is none
   */
  resource<T extends object = object>(kind: KindReference<T>, options: IdentityOptions = {}): ResourceClient<T> {
    return new ResourceClient<T>({ ...options, kind, ...this.#asking });
  }

  /**
   * The metadata alone of a kind's objects (`PartialObjectMetadata`, client-go's `metadata` client), to read and to follow. In all
   * logical clusters (`*`) a kcp tells by it of all definitions of one name together, without an identity.
   *
   * @throws ApiError 400 on what is no kind
   */
  metadata(kind: Omit<KindReference, "type">): ResourceClient {
    const { plural, scope } = kind;
    const metadata = { group: "meta.k8s.io", version: "v1", kind: "PartialObjectMetadata", plural, scope };
    return new ResourceClient({ kind: metadata, metadataOf: kind, ...this.#asking });
  }

  /** What is served here; one for each client, which remembers what it was told. */
  discovery(): Discovery {
    this.#discovery ??= new Discovery(this.#requests);
    return this.#discovery;
  }

  /** Ends the connections, if they were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }

  get #asking(): { readonly requests: Requests; readonly cluster: string; readonly fieldManager: string } {
    const { fieldManager = "virtual-workspaces" } = this.#options;
    return { requests: this.#requests, cluster: this.clusterName, fieldManager };
  }

  /** What was split off the URL is to be kept. */
  #place(): { readonly cluster?: string } {
    return clusterIn(this.upstream.url) === "" && this.clusterName !== "" ? { cluster: this.clusterName } : {};
  }
}

const CLUSTER_PROBLEM = "cluster: give a name, a workspace path like root:org, or * for all";

function checkCluster(cluster: string, fixed: string): void {
  if (cluster !== WILDCARD && !isWorkspacePath(cluster))
    throw ApiError.badRequest(`${CLUSTER_PROBLEM}; it is ${JSON.stringify(cluster)}`);
  if (fixed !== "")
    throw ApiError.badRequest(
      `cluster ${JSON.stringify(cluster)}: the upstream's URL ends with /clusters/${fixed} already: leave that out`,
    );
}
