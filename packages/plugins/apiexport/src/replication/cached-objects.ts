import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type Forwarded, forward } from "@virtual-workspaces/forwarding";
import type { Resource, ResourceDefinition } from "@virtual-workspaces/framework";
import type {
  CacheLease,
  Encoded,
  EncodedList,
  GetOptions,
  ListRequest,
  Scope,
  Storage,
} from "@virtual-workspaces/framework/storage";
import type { Upstream } from "@virtual-workspaces/transport";
import { LocalCaches, localTo } from "./local-cache.ts";

/** Options of {@link CachedObjects}. */
export interface CachedObjectsOptions {
  readonly kind: Resource;
  /** Server with the logical cluster of the objects. */
  readonly upstream: Upstream;
  /** Logical cluster of the objects. */
  readonly cluster: string;
  /** Labels of the shown objects. */
  readonly labels: LabelSelector;
  readonly onError: (error: unknown) => void;
}

/**
 * Objects of a provider as its consumers see them: read-only, live, each in the logical cluster of the request. All
 * watches share one watch of the provider's objects. Memory: these objects once, and for each consumer nothing.
 */
export class CachedObjects implements Storage, AsyncDisposable {
  readonly resource: ResourceDefinition;
  readonly appliesSelectors = true;
  readonly lifecycle = "storage";
  /** Objects for gets and lists, in the logical cluster of the request. */
  readonly #read: Forwarded<object>;
  /** Objects for watches, in their own logical cluster. */
  readonly #watched: Forwarded<object>;
  readonly #local: LocalCaches;
  readonly #cluster: string;
  readonly #labels: LabelSelector;

  constructor({ kind, upstream, cluster, labels, onError }: CachedObjectsOptions) {
    this.resource = kind;
    this.#local = new LocalCaches(cluster);
    this.#cluster = cluster;
    this.#labels = labels;
    const common = {
      resource: kind,
      upstream,
      onError,
      // The view has authorized the caller, who needs no rights in the provider's workspace.
      identity: "none",
      cluster: () => cluster,
      unserved: "empty",
    } as const;
    this.#read = forward<object>({ ...common, transform: { show: localTo } });
    this.#watched = forward<object>(common);
  }

  async get(scope: Scope, key: ObjectKey, options: GetOptions): Promise<Encoded | undefined> {
    const found = (await this.#read.get(scope, key, options)) as Encoded | undefined;
    return found !== undefined && this.#labels.matches(found.labels) ? found : undefined;
  }

  list(scope: Scope, options: ListRequest): Promise<EncodedList> {
    return this.#read.list(this.#selected(scope), options);
  }

  async cache(scope: Scope): Promise<CacheLease> {
    const lease = await this.#watched.cache(this.#there(scope));
    return this.#local.lease(lease, scope.cluster);
  }

  shareKey(scope: Scope): string {
    return JSON.stringify([scope.cluster, this.#watched.shareKey(this.#there(scope))]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#read, this.#watched].map((objects) => objects[Symbol.asyncDispose]()));
  }

  #there(scope: Scope): Scope {
    return { ...this.#selected(scope), cluster: this.#cluster };
  }

  #selected(scope: Scope): Scope {
    if (this.#labels.empty) return scope;
    return { ...scope, labels: new LabelSelector([...this.#labels.requirements, ...scope.labels.requirements]) };
  }
}
