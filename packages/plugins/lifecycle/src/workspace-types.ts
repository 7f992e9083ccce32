import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, type InformerLease, SharedInformers, withoutManagedFields } from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { type Holds, type OwningType, WorkspaceType } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";

/** Options of {@link WorkspaceTypes}. */
export interface WorkspaceTypesOptions extends Pick<Workspaces, "upstream"> {
  /**
   * Server with kcp's cache (`/services/cache`) for the types of all shards, since a workspace may have a type of another shard
   * (`--cache-kubeconfig`).
   * @default `upstream`
   */
  readonly cache?: Upstream;
  /**
   * Server with the logical clusters of all shards. It authorizes callers in the workspace of a type, and returns types that the
   * cache does not have yet (`--external-logical-cluster-admin-kubeconfig`).
   * @default `upstream`
   */
  readonly reviews?: Upstream;
  /** Receives errors of informers and requests. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** Path for all shards. */
const CACHE = "/services/cache/shards/*";

/** WorkspaceTypes of all shards, watched while a view is served. Several views can share them. Memory: the types, once. */
export class WorkspaceTypes {
  readonly #informers: SharedInformers;
  readonly #client: Client;
  #lease: InformerLease<Holds<typeof WorkspaceType>> | undefined;

  constructor({ upstream, cache = upstream, reviews = upstream, onError = warn }: WorkspaceTypesOptions) {
    const client = new Client({ upstream: cache, cluster: "*", path: CACHE });
    this.#informers = new SharedInformers(client, { transform: withoutManagedFields, onError, onProblem: onError });
    this.#client = new Client({ upstream: reviews, cluster: "*" });
  }

  /** @internal Runs the informer until all holders have disposed of the result. */
  hold(): InformerLease<Holds<typeof WorkspaceType>> {
    this.#lease = this.#informers.lease(WorkspaceType);
    return this.#lease;
  }

  /** @internal Returns the cached types. */
  known(): Iterable<WorkspaceType> {
    return this.#lease?.informer.store.list() ?? [];
  }

  /** @internal Resolves when all types are read. Rejects when the informer stops before. */
  async synced(): Promise<void> {
    await this.#lease?.informer.synced;
  }

  /** @internal Returns a type from the cache, or else from its workspace. @throws ApiError when that request fails */
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

/** Default for `onError`: a process warning. */
export function warn(error: unknown): void {
  process.emitWarning(`view of the workspace lifecycle: ${String(error)}`);
}
