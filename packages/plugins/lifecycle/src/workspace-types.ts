import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, type InformerLease, SharedInformers, withoutManagedFields } from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { type Holds, type OwningType, WorkspaceType } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";

/** Where WorkspaceTypes are read. */
export interface WorkspaceTypesOptions extends Pick<Workspaces, "upstream"> {
  /**
   * The server that has kcp's cache (`/services/cache`), where the types of all shards are read: a workspace of one may be of
   * a type of another (`--cache-kubeconfig`). @default `upstream`
   */
  readonly cache?: Upstream;
  /**
   * The server that has the logical clusters of all shards: asked what callers may do in the workspace of a type, and for a type
   * that the cache has not heard of yet (`--external-logical-cluster-admin-kubeconfig`). @default `upstream`
   */
  readonly reviews?: Upstream;
  /** Told when a server cannot be followed or asked. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** Of all shards. */
const CACHE = "/services/cache/shards/*";

/**
 * The WorkspaceTypes of all shards, followed while a view of theirs is served. Views that are given the same share it. Memory: the
 * types, once.
 */
export class WorkspaceTypes {
  readonly #informers: SharedInformers;
  readonly #client: Client;
  #lease: InformerLease<Holds<typeof WorkspaceType>> | undefined;

  constructor({ upstream, cache = upstream, reviews = upstream, onError = warn }: WorkspaceTypesOptions) {
    const client = new Client({ upstream: cache, cluster: "*", path: CACHE });
    this.#informers = new SharedInformers(client, { transform: withoutManagedFields, onProblem: onError });
    this.#client = new Client({ upstream: reviews, cluster: "*" });
  }

  /** @internal Follows them until all who hold them have disposed of that. */
  hold(): InformerLease<Holds<typeof WorkspaceType>> {
    this.#lease = this.#informers.lease(WorkspaceType);
    return this.#lease;
  }

  /** @internal Those that are known. */
  known(): Iterable<WorkspaceType> {
    return this.#lease?.informer.store.list() ?? [];
  }

  /** @internal Resolves once all have been read. Rejects when it ends before. */
  async synced(): Promise<void> {
    await this.#lease?.informer.synced;
  }

  /** @internal A type as it is known, or, where it is not yet, as its workspace says. @throws ApiError when that cannot be asked */
  async find({ cluster, name }: OwningType, signal: AbortSignal): Promise<WorkspaceType | undefined> {
    const known = this.#lease?.informer.store.get({ cluster, name });
    if (known !== undefined) return known;
    try {
      return await this.#client.cluster(cluster).resource(WorkspaceType).get(name, { signal });
    } catch (error) {
      if (isApiError(error) && (error.code === 404 || error.code === 403)) return undefined;
      throw error;
    }
  }
}

/** Where nobody is told of what goes wrong, the process is. */
export function warn(error: unknown): void {
  process.emitWarning(`view of workspaces that begin or end: ${String(error)}`);
}
