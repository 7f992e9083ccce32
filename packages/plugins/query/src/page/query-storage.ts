import { ApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type FieldSelector, parseFieldSelector, parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { ResourceDefinition, ServedResource } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import {
  type CacheLease,
  type ItemList,
  type ListRequest,
  type Scope,
  SourceFeeds,
  type Storage,
} from "@virtual-workspaces/framework/storage";
import type { ClusterSet } from "../access/cluster-set.ts";
import { EVERY_CLUSTER } from "../access/cluster-set.ts";
import type { CheckedRights, ReaderRights, Readers } from "../access/readers.ts";
import type { QueryIndex } from "../indexes/query-index.ts";
import type { IndexLease, QueryIndexes } from "../indexes/query-indexes.ts";
import { decodeCursor, encodeCursor } from "../request/cursor.ts";
import { Matcher } from "../request/matcher.ts";
import { LARGEST_WINDOW, type Query } from "../request/query.ts";
import { ShardedStorage } from "../shards/sharded-storage.ts";
import { WindowCache } from "./window-cache.ts";

const SHARDS_CHANGED = "a shard has become available, or no longer is: list again";
const CHANGED = "your permissions or the workspaces have changed: list again";

/** Selectors of a source, which queries with different ones share. */
const EVERYTHING = { labels: parseLabelSelector(""), fields: parseFieldSelector("") } as const;

/** How long a list waits for a version that the source has not reached, in ms (Kubernetes' watch cache: 3 s). */
const PATIENCE = 3_000;

/** State of a query view that its resources share. */
export class QueryState implements AsyncDisposable {
  readonly indexes: QueryIndexes;
  readonly readers: Readers;
  readonly #onError: (error: unknown, resource: string) => void;
  readonly #feeds = new Map<Storage, SourceFeeds>();
  readonly #windows = new WeakMap<QueryIndex, Map<string, { readonly cache: WindowCache; holders: number }>>();

  constructor(
    options: Pick<QueryState, "indexes" | "readers"> & { readonly onError: (error: unknown, resource: string) => void },
  ) {
    this.indexes = options.indexes;
    this.readers = options.readers;
    this.#onError = options.onError;
  }

  /** Leases the cache of a source: its own, or one that follows it. */
  async source(
    { storage, definition }: Pick<ServedResource, "storage" | "definition">,
    scope: Scope,
  ): Promise<CacheLease> {
    if (storage.cache !== undefined) return storage.cache(scope);
    let feeds = this.#feeds.get(storage);
    if (feeds === undefined) {
      feeds = new SourceFeeds({
        definition,
        source: storage,
        onError: (error) => this.#onError(error, definition.plural),
        onEmpty: () => void this.#feeds.delete(storage),
      });
      this.#feeds.set(storage, feeds);
    }
    const { name, uid, groups, extra } = scope.identity;
    const key = storage.shareKey?.(scope) ?? JSON.stringify([name, uid, groups, extra]);
    return feeds.lease(scope, JSON.stringify([scope.cluster, scope.params, key]));
  }

  /** Leases the watched state of a window, shared by its watches. */
  window(index: QueryIndex, { window, columns }: Query): { readonly cache: WindowCache } & Disposable {
    const ofIndex = this.#windows.get(index) ?? new Map();
    this.#windows.set(index, ofIndex);
    // Tables of events are made once for all watches of a cache, so the columns belong to it.
    const key = JSON.stringify([window, columns?.map(({ column }) => column)]);
    const shared = ofIndex.get(key) ?? { cache: new WindowCache(index, window), holders: 0 };
    ofIndex.set(key, shared);
    shared.holders += 1;
    return {
      cache: shared.cache,
      [Symbol.dispose]: () => {
        shared.holders -= 1;
        if (shared.holders > 0) return;
        ofIndex.delete(key);
        shared.cache[Symbol.dispose]();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.indexes[Symbol.dispose]();
    await Promise.all([...this.#feeds.values()].map((feeds) => feeds[Symbol.asyncDispose]()));
  }
}

/** Answers the lists and watches of one query. */
export class QueryStorage implements Storage {
  readonly appliesSelectors = true;
  readonly #state: QueryState;
  readonly #served: ServedResource;
  readonly #query: Query;

  constructor(state: QueryState, served: ServedResource, query: Query) {
    this.#state = state;
    this.#served = served;
    this.#query = query;
  }

  async list(scope: Scope, options: ListRequest): Promise<ItemList> {
    if (options.resourceVersionMatch === "Exact")
      throw ApiError.badRequest("invalid resourceVersionMatch: a query reads the current state, leave Exact out");
    const { index, reader, [Symbol.dispose]: release } = await this.#index(scope);
    try {
      await fresh(index, options);
      if (reader !== undefined) reader.rights.isShown = true;
      return this.#page({ index, rights: reader?.rights }, scope, options);
    } finally {
      release();
    }
  }

  async cache(scope: Scope): Promise<CacheLease> {
    const { window, held } = this.#query;
    if (window.limit === undefined && (window.offset > 0 || held !== undefined))
      throw ApiError.badRequest("invalid offset or heldOffset: a watch of a window needs a limit too");
    if ((window.limit ?? 0) > LARGEST_WINDOW)
      throw ApiError.badRequest(`invalid limit: a watch follows at most ${LARGEST_WINDOW} objects`);
    await using stack = new AsyncDisposableStack();
    const { index, reader } = stack.use(await this.#index(scope));
    const rights = reader?.rights;
    if (rights !== undefined && (this.#query.rights ?? rightsText(rights)) !== rightsText(rights))
      throw ApiError.expired(CHANGED);
    if (rights?.mayWatch === false) {
      const message =
        "in some workspaces you may list but not watch: list again from time to time, or get the verb watch there";
      throw ApiError.forbidden({ resource: groupResourceOf(this.#served.definition), message });
    }
    // The rights of one user may change, and other windows are held by one client.
    const isOwn = held !== undefined || rights !== undefined;
    const { cache } = isOwn
      ? {
          cache: stack.use(
            new WindowCache(index, window, {
              held: held !== undefined,
              since: rights && { version: rights.since, isShown: rights.isShown },
            }),
          ),
        }
      : stack.use(this.#state.window(index, this.#query));
    if (reader !== undefined) stack.use(reader.listen(() => cache.expired(CHANGED, false)));
    const { storage } = this.#served;
    if (storage instanceof ShardedStorage) stack.use(storage.listen(() => cache.expired(SHARDS_CHANGED, false)));
    if (rights !== undefined) rights.isShown = true;
    const kept = stack.move();
    return {
      cache,
      past: cache.past(held ?? window),
      confirm: index.confirm,
      [Symbol.dispose]: () => void kept.disposeAsync(),
    };
  }

  #page(
    { index, rights }: { readonly index: QueryIndex; readonly rights: CheckedRights | undefined },
    scope: Scope,
    { limit, continue: token, warn }: ListRequest,
  ): ItemList {
    const { order, version: resourceVersion, filterFailure } = index;
    const { sort, window } = this.#query;
    const text = this.#text(scope);
    let offset = window.offset;
    if (token !== undefined) {
      offset = order.rankAfter(decodeCursor(token, text, sort.length));
    }
    const items = order.slice(offset, limit ?? order.size);
    const last = items.at(-1);
    const remaining = order.size - offset - items.length;
    if (filterFailure !== undefined) warn(`filter failed for some objects, which are left out: ${filterFailure}`);
    const { storage } = this.#served;
    const shards = storage instanceof ShardedStorage ? storage.names : [];
    const away = storage instanceof ShardedStorage ? storage.unavailable : [];
    if (away.length > 0) warn(`${sharded(away)} not available: objects may be missing or out of date, in totals too`);
    const details = {
      query: {
        total: order.size,
        offset,
        ...(shards.length > 0 && { shards }),
        ...(away.length > 0 && { unavailableShards: away }),
        ...(rights && { rights: rightsText(rights) }),
        ...(this.#query.counts.size > 0 && { counts: index.counted() }),
      },
    };
    if (last === undefined || remaining <= 0) return { items, resourceVersion, details };
    const next = encodeCursor({ key: index.keyOf(last), object: last }, text);
    return { items, resourceVersion, continue: next, remainingItemCount: remaining, details };
  }

  async #index(scope: Scope): Promise<IndexLease & { readonly reader: ReaderRights | undefined }> {
    const { definition } = this.#served;
    checkFields(definition, scope.fields);
    const source = await this.#state.source(this.#served, { ...scope, namespace: "", ...EVERYTHING });
    let reader: ReaderRights | undefined;
    try {
      if (scope.cluster === WILDCARD) reader = await this.#rights(scope, source);
    } catch (error) {
      source[Symbol.dispose]();
      throw error;
    }
    const clusters: ClusterSet = reader?.rights.clusters ?? EVERY_CLUSTER;
    const { cluster, namespace, labels, fields } = scope;
    const key = JSON.stringify([this.#text(scope), [...this.#query.counts.keys()], clusters.text]);
    const owner = scope.identity.name;
    const lease = await this.#state.indexes.lease(source, { key, owner }, () => ({
      query: this.#query,
      matcher: new Matcher(definition, this.#query, { cluster, namespace, labels, fields, clusters }),
      cluster,
    }));
    return { index: lease.index, reader, [Symbol.dispose]: () => lease[Symbol.dispose]() };
  }

  /** Returns a text that is equal for the same objects of a source in the same order, whatever the rights. */
  #text({ cluster, namespace, labels, fields }: Scope): string {
    const { definition, identity } = this.#served;
    const resource = [definition.hash, identity, cluster, namespace, labels.toString(), fields.toString()];
    return JSON.stringify([...resource, this.#query.key]);
  }

  #rights(scope: Scope, { cache }: CacheLease): Promise<ReaderRights> {
    const { definition, identity } = this.#served;
    const { group, version, plural: resource } = definition;
    const { namespace } = scope;
    const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const path = `${base}${namespace === "" ? "" : `/namespaces/${namespace}`}/${resource}`;
    const question = {
      ...{ isResource: true, path, group, version, resource, identity, namespace, params: scope.params },
      ...{ subresource: "", name: "", longRunning: false, upgrade: false },
    };
    return this.#state.readers.rightsOf(scope.identity, question, cache);
  }
}

const sharded = (names: readonly string[]): string =>
  names.length === 1 ? `shard ${names[0]} is` : `shards ${names.join(", ")} are`;

/** Returns a text that is equal for equal rights. */
function rightsText({ clusters, mayWatch }: CheckedRights): string {
  return `${clusters.text.slice(0, 10)}${mayWatch ? "" : "-"}`;
}

/** @throws ApiError 410 on a version of another server, 504 on one that does not come */
async function fresh(index: QueryIndex, { resourceVersion, signal, warn }: ListRequest): Promise<void> {
  if (resourceVersion === "0") return;
  if (resourceVersion === undefined) {
    await index.confirm({ signal, warn });
    return;
  }
  const { cache } = index;
  if (cache.isForeign(resourceVersion))
    throw ApiError.expired("too old resource version: not issued by this server since it started");
  if (!cache.reached(resourceVersion)) await cache.reach(resourceVersion, { signal, timeout: PATIENCE });
}

/** @throws ApiError 400 that names the field and the supported ones */
function checkFields({ selectableFields, scope }: ResourceDefinition, { fields }: FieldSelector): void {
  const namespace = scope === "Namespaced" ? ["metadata.namespace"] : [];
  const known = ["metadata.name", ...namespace, ...selectableFields.map(({ name }) => name)];
  const unknown = fields.find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw ApiError.badRequest(
      `field label not supported: ${unknown}; use one of ${known.join(", ")}, or the parameter filter`,
    );
}
