import { isApiError, type KubeObject, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import {
  type Merged,
  merged,
  type Resource,
  type ServedResource,
  type ViewSource,
  view,
} from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Scope } from "@virtual-workspaces/framework/storage";
import { type ClusterCachedResource, clusterOf } from "@virtual-workspaces/kcp";
import { cachedResourceOf } from "../bindings/cached/cached-kinds.ts";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { ReadWhole } from "./merged-kind.ts";
import { annotationsOf } from "./replicated-kind.ts";

/** Objects of one ClusterCachedResource. */
interface Cached {
  readonly shard: string;
  readonly cluster: string;
  /** Source of the stored objects: another one after a change of the kind. */
  readonly stored: ViewSource;
  /** Selector in text form. */
  readonly selector: string;
}

/** Objects of all ClusterCachedResources with one identity, of one resource. */
interface Identified {
  readonly resource: Resource;
  readonly all: Merged;
  readonly byShard: Map<string, Merged>;
  readonly sources: Map<string, Cached>;
  readonly named: ServedResource;
  /** For the logical clusters that have one of the ClusterCachedResources. */
  readonly plain: ServedResource;
}

/**
 * Serves the objects of ClusterCachedResources as kcp's cache server does: `<plural>:<identity>` over all logical clusters, and with
 * or without the identity in the provider's. They are the provider's objects, with the annotations of kcp's copies. Open watches
 * follow ClusterCachedResources that come, change and go.
 */
export class CachedObjects implements Disposable {
  readonly #shards = new Map<string, ShardPeer>();
  readonly #identified = new Map<string, Identified>();
  readonly #lists = new Map<string, readonly ServedResource[]>();
  readonly #log: Log;
  readonly #following: Disposable;

  constructor(registry: ShardRegistry, log: Log) {
    this.#log = log;
    this.#following = registry.eachShard((shard) => {
      this.#shards.set(shard.name, shard);
      const following = shard.state.cachedResources.onChangedKey(() => this.#follow());
      return {
        [Symbol.dispose]: () => {
          following[Symbol.dispose]();
          this.#shards.delete(shard.name);
        },
      };
    });
  }

  /** Returns the resources of a logical cluster, or of all of them for `*`: an identical list while nothing changes. */
  servedIn(cluster: string): readonly ServedResource[] {
    this.#follow();
    let list = this.#lists.get(cluster);
    if (list === undefined) {
      const here = [...this.#identified.values()].filter(
        ({ sources }) => cluster === WILDCARD || [...sources.values()].some((source) => source.cluster === cluster),
      );
      list = here.flatMap(({ named, plain }) => (cluster === WILDCARD ? [named] : [named, plain]));
      this.#lists.set(cluster, list);
    }
    return list;
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  /** Adjusts the sources to the present ClusterCachedResources. */
  #follow(): void {
    const present = new Map<string, { readonly resource: Resource; readonly sources: Map<string, Cached> }>();
    for (const shard of this.#shards.values()) {
      for (const found of shard.state.cachedResources.store.list() as unknown as Iterable<ClusterCachedResource>) {
        const cached = cachedOf(shard, found);
        if (cached === undefined) continue;
        const id = idOf(cached.stored.resource, found.status?.identityHash ?? "");
        const one = present.get(id) ?? { resource: cached.stored.resource as Resource, sources: new Map() };
        one.sources.set(`${shard.name}/${cached.cluster}/${found.metadata.name}`, cached);
        present.set(id, one);
      }
    }
    for (const [id, { resource, sources }] of present)
      this.#update(this.#identified.get(id) ?? this.#add(id, resource), sources);
    for (const [id, identified] of this.#identified) {
      if (present.has(id)) continue;
      this.#update(identified, new Map());
      this.#identified.delete(id);
      this.#lists.clear();
    }
  }

  #update(identified: Identified, sources: ReadonlyMap<string, Cached>): void {
    for (const [name, cached] of sources) {
      if (isSame(identified.sources.get(name), cached)) continue;
      const source = copiesOf(cached, this.#log);
      identified.all.setSource(name, source);
      this.#ofShard(identified, cached.shard).setSource(name, source);
      identified.sources.set(name, cached);
      this.#lists.clear();
    }
    for (const [name, { shard }] of identified.sources) {
      if (sources.has(name)) continue;
      identified.all.deleteSource(name);
      this.#ofShard(identified, shard).deleteSource(name);
      identified.sources.delete(name);
      this.#lists.clear();
    }
  }

  #add(id: string, resource: Resource): Identified {
    const all = this.#merged(resource);
    const nothing = this.#merged(resource);
    const byShard = new Map<string, Merged>();
    const of = ({ params: { shard = "" } }: Scope): Merged => (shard === "*" ? all : (byShard.get(shard) ?? nothing));
    const source: ViewSource = {
      resource,
      cache: (scope) => of(scope).cache(scope),
      shareKey: (scope) => of(scope).shareKey(scope),
    };
    const serve = (identity?: string): ServedResource => {
      const options = { verbs: ["get", "list", "watch"], typedItems: true, ...(identity && { identity }) } as const;
      return resource.serve(new ReadWhole(source), options);
    };
    const identity = id.slice(id.lastIndexOf(":") + 1);
    const added = { resource, all, byShard, sources: new Map(), named: serve(identity), plain: serve() };
    this.#identified.set(id, added);
    return added;
  }

  #ofShard({ resource, byShard }: Identified, shard: string): Merged {
    const found = byShard.get(shard) ?? this.#merged(resource);
    byShard.set(shard, found);
    return found;
  }

  #merged(resource: Resource): Merged {
    const onError = (error: unknown, source: string): void =>
      this.#log({ level: "error", message: "failed to read cached resource", source, error: String(error) });
    return merged({ sources: {}, resource, shareKey: () => "", onError });
  }
}

/** Returns what a ClusterCachedResource selects, once it has an identity and its workspace stores the resource. */
function cachedOf(shard: ShardPeer, found: ClusterCachedResource): Cached | undefined {
  if (found.status?.identityHash === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  const cluster = clusterOf(found as unknown as KubeObject);
  try {
    const stored = shard.custom(cluster, cachedResourceOf(found));
    const selector = JSON.stringify(found.spec.labelSelector ?? {});
    return stored && { shard: shard.name, cluster, stored, selector };
  } catch (error) {
    if (isApiError(error) && error.code === 503) return undefined; // its kinds are still read
    throw error;
  }
}

function idOf({ group, version, plural }: ViewSource["resource"], identity: string): string {
  return `${version}/${plural}.${group}:${identity}`;
}

function isSame(before: Cached | undefined, now: Cached): boolean {
  return before?.stored === now.stored && before.selector === now.selector;
}

function copiesOf({ shard, cluster, stored, selector }: Cached, log: Log): ViewSource {
  const labels = labelSelectorFromObject(JSON.parse(selector) as LabelSelectorObject);
  return view<object>({
    from: within(stored, cluster),
    select: ({ metadata }) => labels.matches(metadata.labels ?? {}),
    map: (object) => ({ ...object, metadata: { annotations: annotationsOf(object.metadata, shard, undefined) } }),
    onError: (error, key) =>
      log({ level: "error", message: "failed to show cached object", shard, object: key, error: String(error) }),
  }) as unknown as ViewSource;
}

/** Reads the objects of one logical cluster, whatever the scope. */
function within(source: ViewSource, cluster: string): ViewSource {
  const there = (scope: Scope): Scope => ({ ...scope, cluster, params: { ...scope.params, cluster } });
  return {
    resource: source.resource,
    cache: (scope) => source.cache(there(scope)),
    shareKey: (scope) => source.shareKey?.(there(scope)),
  };
}
