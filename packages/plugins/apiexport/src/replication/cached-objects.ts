import { CLUSTER_ANNOTATION, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type Forwarded, forward, type ShownRequest } from "@virtual-workspaces/forwarding";
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
import {
  ORIGINAL_RESOURCE_VERSION_ANNOTATION,
  ORIGINAL_UID_ANNOTATION,
  SHARD_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import type { Upstream } from "@virtual-workspaces/transport";

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
 * Objects of a provider as its consumers see them: read-only, live, each in the logical cluster of the request. Memory: for each
 * consumer with an open watch, the objects.
 */
export class CachedObjects implements Storage, AsyncDisposable {
  readonly resource: ResourceDefinition;
  readonly appliesSelectors = true;
  readonly lifecycle = "storage";
  readonly #objects: Forwarded<object>;
  readonly #labels: LabelSelector;

  constructor({ kind, upstream, cluster, labels, onError }: CachedObjectsOptions) {
    this.resource = kind;
    this.#labels = labels;
    this.#objects = forward<object>({
      resource: kind,
      upstream,
      onError,
      // The view has authorized the caller, who needs no rights in the provider's workspace.
      identity: "none",
      cluster: () => cluster,
      transform: { show: localTo },
      unserved: "empty",
    });
  }

  async get(scope: Scope, key: ObjectKey, options: GetOptions): Promise<Encoded | undefined> {
    const found = (await this.#objects.get(scope, key, options)) as Encoded | undefined;
    return found !== undefined && this.#labels.matches(found.labels) ? found : undefined;
  }

  list(scope: Scope, options: ListRequest): Promise<EncodedList> {
    return this.#objects.list(this.#selected(scope), options);
  }

  cache(scope: Scope): Promise<CacheLease> {
    return this.#objects.cache(this.#selected(scope));
  }

  shareKey(scope: Scope): string {
    return this.#objects.shareKey(this.#selected(scope));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#objects[Symbol.asyncDispose]();
  }

  #selected(scope: Scope): Scope {
    if (this.#labels.empty) return scope;
    return { ...scope, labels: new LabelSelector([...this.#labels.requirements, ...scope.labels.requirements]) };
  }
}

/** Returns an object as if it belonged to the logical cluster of the request, as kcp does. */
function localTo<T extends KubeObject>(object: T, { cluster }: ShownRequest): T {
  const {
    [SHARD_ANNOTATION]: _shard,
    [ORIGINAL_UID_ANNOTATION]: _uid,
    [ORIGINAL_RESOURCE_VERSION_ANNOTATION]: _version,
    ...annotations
  } = object.metadata.annotations ?? {};
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [CLUSTER_ANNOTATION]: cluster } },
  };
}
