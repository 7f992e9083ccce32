import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "@virtual-workspaces/apimachinery/selectors";
import { Client, Informer, withoutManagedFields } from "@virtual-workspaces/client";
import {
  type APIExport,
  type APIResourceSchema,
  CACHE_GROUP,
  ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  clusterOf,
  type Holds,
} from "@virtual-workspaces/kcp";
import { isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import { type ApiModel, type ApiModelOptions, CACHE, placesOf } from "../model/api-model.ts";
import type { ExportKey } from "../model/bindings.ts";

/** Key of a ClusterCachedResourceEndpointSlice. */
export interface SliceKey {
  /** Name of the logical cluster. */
  readonly cluster: string;
  readonly name: string;
}

/** Objects that an endpoint slice publishes, and the export whose consumers read them. */
export interface PublishedObjects {
  readonly export: ExportKey;
  readonly group: string;
  /** Plural name. */
  readonly resource: string;
  /** Logical cluster of the objects. */
  readonly cluster: string;
  /** Labels of the published objects. */
  readonly labels: LabelSelector;
  /** Schema in the export. */
  readonly schema: APIResourceSchema;
}

const BY_PLACE = "place";

/**
 * Cache of the ClusterCachedResources of all shards and their endpoint slices, active while the view is served. Memory: these
 * objects, which are few.
 */
export class CachedModel {
  readonly #model: ApiModel;
  readonly #cached: Informer<Holds<typeof ClusterCachedResource>>;
  readonly #slices: Informer<Holds<typeof ClusterCachedResourceEndpointSlice>>;
  #epoch = 0;

  constructor(model: ApiModel, { upstream, cache = upstream, onError }: ApiModelOptions) {
    const everywhere = new Client({ upstream: cache, cluster: "*", path: CACHE });
    const reports = onError === undefined ? {} : { onError, onProblem: onError };
    this.#model = model;
    this.#cached = new Informer({
      resource: everywhere.resource(ClusterCachedResource),
      transform: withoutManagedFields,
      indexers: { [BY_PLACE]: placesOf },
      ...reports,
    });
    this.#slices = new Informer({
      resource: everywhere.resource(ClusterCachedResourceEndpointSlice),
      transform: withoutManagedFields,
      ...reports,
    });
    const changed = (): void => {
      this.#epoch += 1;
    };
    for (const informer of this.#all) informer.on({ added: changed, updated: changed, deleted: changed });
  }

  get #all(): readonly Informer[] {
    return [this.#cached, this.#slices] as unknown as readonly Informer[];
  }

  /** Changes with each object that decides what is published. */
  get epoch(): number {
    return this.#epoch + this.#model.epoch;
  }

  /** Runs the informers until the result is disposed of. Called once. */
  hold(): AsyncDisposable {
    const held = this.#model.hold();
    for (const informer of this.#all) informer.start();
    return {
      [Symbol.asyncDispose]: async () => {
        await Promise.all([held[Symbol.asyncDispose](), ...this.#all.map((informer) => informer.stop())]);
      },
    };
  }

  /** Resolves when all objects are read. Rejects when the informers stop before. */
  async synced(): Promise<void> {
    await Promise.all([this.#model.synced(), ...this.#all.map((informer) => informer.synced)]);
  }

  /**
   * Returns what a slice publishes; `undefined` if its references are invalid. Security: an export shows objects only under their
   * identity and resource, and refers to slices in its own workspace only. The conditions in the slice's status are not used,
   * which users can write.
   */
  published({ cluster, name }: SliceKey): PublishedObjects | undefined {
    const spec = this.#slices.store.get({ cluster, name })?.spec;
    if (spec === undefined) return undefined;
    const { clusterCachedResource: to, export: by } = spec;
    const [cached] = this.#cached.store.byIndex(BY_PLACE, `${to.path || cluster}:${to.name}`);
    const found = this.#model.exportAt(by.path || cluster, by.name);
    if (cached === undefined || cached.metadata.deletionTimestamp !== undefined) return undefined;
    // The server has checked the resource: it exists, without namespaces.
    if (!isConditionTrue(cached.status?.conditions, "ResourceValid")) return undefined;
    if (found === undefined || clusterOf(found) !== cluster) return undefined;
    const schema = this.#schemaOf(found, { slice: name, cached });
    if (schema === undefined) return undefined;
    const { group = "", resource, labelSelector = {} } = cached.spec;
    return {
      export: { cluster, name: by.name },
      group,
      resource,
      cluster: clusterOf(cached),
      labels: labelSelectorFromObject(labelSelector as LabelSelectorObject),
      schema,
    };
  }

  /** Returns the schema of the cached version in an export. */
  #schemaOf(
    found: APIExport,
    { slice, cached }: { readonly slice: string; readonly cached: ClusterCachedResource },
  ): APIResourceSchema | undefined {
    const { group = "", resource, version = "" } = cached.spec;
    const entry = found.spec?.resources?.find((one) => {
      const { reference, identityHash } = one.storage?.virtual ?? {};
      return (
        reference?.apiGroup === CACHE_GROUP &&
        reference.kind === ClusterCachedResourceEndpointSlice.kind &&
        reference.name === slice &&
        one.group === group &&
        one.name === resource &&
        identityHash === cached.status?.identityHash
      );
    });
    const schema = entry && this.#model.schema({ cluster: clusterOf(found), name: entry.schema });
    if (schema?.spec?.scope !== "Cluster") return undefined;
    // Admission compares names only, and that of `prices` in the group `flavors.example.dev` ends in `.flavors.example.dev`.
    if (schema.spec.group !== group || schema.spec.names.plural !== resource) return undefined;
    const serves = schema.spec.versions.some(({ name, served }) => served && (version === "" || name === version));
    return serves ? schema : undefined;
  }
}
