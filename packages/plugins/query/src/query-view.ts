import { ApiError, isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type Authorizer,
  allow,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type Verb,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { AUTHENTICATED } from "@virtual-workspaces/framework/authn";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { Readers } from "./access/readers.ts";
import { QueryIndexes } from "./indexes/query-indexes.ts";
import { QueryState, QueryStorage } from "./page/query-storage.ts";
import { isQuery, parseQuery } from "./request/query.ts";
import type { QueriedShards } from "./shards/queried-shards.ts";
import { ShardedResources } from "./shards/sharded-resources.ts";

/** Options of {@link queryView}. */
export interface QueryViewOptions {
  /**
   * Virtual workspace to query, or a function that returns it once requests arrive. Its `setup` must run elsewhere: the server
   * that serves it as well runs it.
   */
  readonly over: VirtualWorkspace | (() => VirtualWorkspace);
  /**
   * Shards whose objects lists and watches of all logical clusters (`*`) have; called for each request. `over` answers for single logical
   * clusters, whichever shard has them. Resource versions over several shards are the view's own: a process that starts again, and another
   * process, answers 410 to them.
   *
   * While a shard is not available, its objects are as last seen or missing: `metadata.query.unavailableShards` of a list and a `Warning`
   * name it. Open watches end with 410 when that changes.
   *
   * Security: a user must have a right to all logical clusters on each shard to have it here.
   * @default the logical clusters of `over`
   */
  readonly shards?: () => QueriedShards | undefined;
  /** Name of the view. @default "query" */
  readonly name?: string;
  /** Path after `/services/<name>`. @default the path of `over`, and of a function `/clusters/:cluster` */
  readonly path?: string;
  /**
   * Maximum number of indexes; one user may have a quarter of them in use. Each holds 50 to 200 bytes for each object that it
   * selects. The one that has been idle longest makes room. Without an idle one, or beyond the quarter, another query gets 429.
   * @default 100
   */
  readonly indexes?: number;
  /** How long an index stays after its last reader, in ms. @default 60000 */
  readonly linger?: number;
  /**
   * Interval at which the rights of a reader of all logical clusters are checked again, in ms.
   * @default 10000
   */
  readonly authorizeEvery?: number;
  /** Called when a source cannot be followed, which is retried. @default a process warning */
  readonly onError?: (error: unknown, resource: string) => void;
}

/** Verbs of a query view. */
const READS: readonly Verb[] = ["get", "list", "watch"];

/**
 * Serves the resources of another virtual workspace, read-only, and answers lists and watches with further query parameters:
 * `sortBy`, `filter`, `search`, `offset`, `countBy` and `columns`. A watch with a limit follows a window of the sorted list.
 * Requests without these parameters are answered as by the source.
 *
 * Lists and watches of all logical clusters (`*`) have the objects of those logical clusters in which the caller may list them.
 *
 * Security: the rule of `over` decides every request. For `*` it decides each logical cluster, again every `authorizeEvery`
 * ms, and watches end when the result changes. Totals and counts contain only objects that the caller may list.
 *
 * @example
 * ```ts
 * import {
 *   authenticated,
 *   createServer,
 *   defineResource,
 *   defineVirtualWorkspace,
 *   staticTokens,
 * } from "@virtual-workspaces/framework";
 * import { queryView } from "@virtual-workspaces/query";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 * const books = defineVirtualWorkspace({
 *   name: "books",
 *   path: "/clusters/:cluster",
 *   authorize: authenticated(),
 *   resources: [Book.serve(Book.collection())],
 * });
 *
 * createServer({
 *   virtualWorkspaces: [books, queryView({ over: books })],
 *   authentication: [staticTokens({ "ann-token": { name: "ann" } })],
 * });
 * ```
 * @see docs/how-to/query-views.md
 */
export function queryView(options: QueryViewOptions): VirtualWorkspace {
  const { name = "query", indexes: most = 100, linger = 60_000, authorizeEvery: every = 10_000 } = options;
  const given = options.over;
  const over = typeof given === "function" ? given : (): VirtualWorkspace => given;
  const path = options.path ?? (typeof given === "function" ? "/clusters/:cluster" : given.path);
  const several: Several = () => sharded();
  const state = new QueryState({
    indexes: new QueryIndexes({ most, linger }),
    readers: new Readers({ authorize: () => ruleOf(over, several), every }),
    onError: options.onError ?? warn,
  });
  const resources = new QueriedResources(state);
  const sharded = shardedOf(options, state);
  const hasClusters = path.split("/").includes(":cluster");
  const view: VirtualWorkspace = {
    name,
    path,
    ...(hasClusters && {
      wildcard: true,
      locate: (cluster, request) => over().locate?.(cluster, request) ?? clusterNamed(cluster),
    }),
    authentication: (params, below) => over().authentication?.(params, below) ?? [],
    authorize: authorizerOver(over, several),
    resources: (request) => {
      const everywhere = request.params["cluster"] === WILDCARD;
      const sharded = everywhere ? several() : undefined;
      if (sharded !== undefined) return sharded.of(request).then((all) => resources.of(all, true));
      const list = over().resources ?? [];
      return then(typeof list === "function" ? list(request) : list, (all) => resources.of(all, everywhere));
    },
    metadataOf: (resource, request) =>
      then(
        several()?.metadata(resource, request) ?? over().metadataOf?.(resource, request),
        (served) => served && resources.one(served, true),
      ),
    ready: (context) => over().ready?.(context),
    setup: () => state,
  };
  // The type of parameters comes from a literal path.
  return defineVirtualWorkspace(view as VirtualWorkspace<never> as VirtualWorkspace<unknown>);
}

/** Shards to read for requests about all logical clusters; `undefined` when `over` is all there is. */
type Several = () => ShardedResources | undefined;

function shardedOf({ shards, onError = warn }: QueryViewOptions, state: QueryState): Several {
  if (shards === undefined) return () => undefined;
  const none: QueriedShards = {
    running: new Map(),
    missing: [],
    listen: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const all = new ShardedResources({
    shards: () => shards() ?? none,
    source: (served, scope) => state.source(served, scope),
    onError: (error, shard) => onError(error, `shard ${shard}`),
  });
  return () => (all.areSeveral ? all : undefined);
}

/** Returns the rule of the source, which for all logical clusters is that of each shard. */
function ruleOf(over: () => VirtualWorkspace, several: Several): Authorizer {
  return (question) => {
    const sharded = question.params["cluster"] === WILDCARD ? several() : undefined;
    return sharded?.authorize(question) ?? over().authorize(question);
  };
}

function warn(error: unknown, resource: string): void {
  process.emitWarning(`cannot follow ${resource} for queries: ${String(error)}`);
}

/** Resources with query parameters, equal for equal lists. */
class QueriedResources {
  readonly #state: QueryState;
  readonly #lists = [new WeakMap(), new WeakMap()] as const;
  readonly #made = [
    new WeakMap<ServedResource, ServedResource>(),
    new WeakMap<ServedResource, ServedResource>(),
  ] as const;

  constructor(state: QueryState) {
    this.#state = state;
  }

  /** @param everywhere whether requests are for all logical clusters, and always queries */
  of(list: readonly ServedResource[], everywhere: boolean): readonly ServedResource[] {
    const lists: WeakMap<readonly ServedResource[], readonly ServedResource[]> = this.#lists[everywhere ? 1 : 0];
    let made = lists.get(list);
    if (made === undefined) {
      made = list
        .filter(({ verbs, forwardedBy }) => forwardedBy === undefined && verbs.includes("list"))
        .map((served) => this.one(served, everywhere));
      lists.set(list, made);
    }
    return made;
  }

  one(served: ServedResource, everywhere: boolean): ServedResource {
    const known = this.#made[everywhere ? 1 : 0];
    let made = known.get(served);
    if (made === undefined) {
      made = this.#queried(served, everywhere);
      known.set(served, made);
    }
    return made;
  }

  #queried(served: ServedResource, everywhere: boolean): ServedResource {
    const verbs = READS.filter((verb) => served.verbs.includes(verb));
    const { listedVerbs: _listed, ...rest } = served;
    const base = { ...rest, verbs, subresources: [], named: new Map(), admit: undefined, scaling: undefined };
    const queried = (parameters: URLSearchParams): ServedResource | undefined => {
      if (!everywhere && !isQuery(parameters)) return undefined;
      if (!verbs.includes("watch"))
        throw ApiError.badRequest(
          `${served.definition.plural} cannot be queried: their storage has no changes to follow`,
        );
      const query = parseQuery(served.definition, parameters);
      const storage = new QueryStorage(this.#state, served, query);
      const columns = query.columns?.map(({ column }) => column);
      const definition = columns === undefined ? served.definition : { ...served.definition, columns };
      return { ...base, definition, storage };
    };
    return Object.freeze({ ...base, queried });
  }
}

/** The source's rule, except that all authenticated users may list and watch all logical clusters, and get those allowed. */
function authorizerOver(over: () => VirtualWorkspace, several: Several): Authorizer {
  const rule = ruleOf(over, several);
  const authorize: Authorizer = (question) => {
    const view = over();
    if (view.handleWhen?.(question) === true) return deny("mounted workspaces cannot be queried");
    const isEverywhere = question.params["cluster"] === WILDCARD;
    const isList = question.isResource && (question.verb === "list" || question.verb === "watch");
    if (!isEverywhere || !isList) return rule(question);
    return everywhere(question.user.in(AUTHENTICATED));
  };
  return Object.defineProperties(authorize, {
    watchesEvery: { get: () => over().authorize.watchesEvery },
    rules: { get: () => over().authorize.rules },
  });
}

function everywhere(isAuthenticated: boolean): Decision {
  return isAuthenticated ? allow() : deny("log in to list objects of all workspaces");
}

/** @throws ApiError 400 on a workspace path */
function clusterNamed(cluster: string): string {
  if (isWorkspacePath(cluster) && cluster.includes(":"))
    throw ApiError.badRequest(`invalid cluster ${JSON.stringify(cluster)}: use the name of a logical cluster`);
  return cluster;
}

function then<T, R>(value: Awaitable<T>, use: (value: T) => R): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value as T);
}
