import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import {
  decodeContinue,
  encodeContinue,
  type ListOptions,
  parseListOptions,
  validateListOptions,
} from "@virtual-workspaces/apimachinery/requests";
import { negotiate } from "../encode/representation.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { CachedList } from "../observe/observer.ts";
import type { ServedResource } from "../resource/served.ts";
import type { CacheLease, Past } from "../storage.ts";
import type { Snapshot } from "../watch/cache/cache-event.ts";
import type { Encoded } from "../watch/cache/encoded.ts";
import { cacheKey, visitIn } from "../watch/cache/watch-cache.ts";
import { Selection } from "../watch/selection.ts";
import { directPage, inShard, type Page, type PageRequest, serveDirectList, writeList } from "./direct-list.ts";
import { checkSelectable, FOREIGN, freshen, isCached, leaseOf, scopeOf } from "./scope.ts";

/** Answers a LIST. */
export async function serveList(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  const request = pageRequest(exchange, resource);
  const wanted = negotiate(exchange.req.headers.accept, "list");
  if (!isCached(resource)) return serveDirectList(exchange, resource, { ...request, wanted });
  const page = await readPage(exchange, resource, request);
  await writeList(exchange, resource, { page, wanted });
}

/** Returns the objects that a request selects. */
export function selectedPage(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  request: PageRequest,
): Promise<Page> {
  return isCached(resource) ? readPage(exchange, resource, request) : directPage(exchange, resource, request);
}

/** Parses the options of a list. @throws ApiError 400, 422 on invalid options */
export function pageRequest(exchange: AuthorizedExchange, resource: ServedResource): PageRequest {
  const options = parseListOptions(exchange.query);
  validateListOptions(options, { isWatch: false });
  checkSelectable(resource, options.fieldSelector);
  const { labelSelector: labels, fieldSelector: fields, shardSelector: shard } = options;
  const { cluster, info } = exchange;
  return { options, selection: new Selection({ cluster, namespace: info.namespace, labels, fields, shard }) };
}

async function readPage(exchange: AuthorizedExchange, resource: ServedResource, request: PageRequest): Promise<Page> {
  const lease = await leaseOf(exchange, resource, scopeOf(exchange));
  try {
    const { snapshot, after } = await snapshotFor(exchange, lease, request.options);
    const start = { ...request, after };
    if ("past" in snapshot) return inShard(await pastPage(snapshot, start, exchange), request.selection);
    const { fetched, ...page } = pageOf(snapshot, start);
    exchange.cachedList = { fetched, returned: page.items.length };
    return inShard(page, request.selection);
  } finally {
    lease[Symbol.dispose]();
  }
}

type RememberedState = Required<Pick<Past, "objects">>;

/** A state that the cache no longer holds, but the storage does. */
interface PastState {
  readonly past: RememberedState;
  readonly version: string;
  /** Message when the storage no longer holds it either. */
  readonly tooOld: string;
}

/** A state to list, and the key after which to start. */
interface Start {
  readonly snapshot: Snapshot | PastState;
  readonly after: string;
}

async function snapshotFor(exchange: AuthorizedExchange, lease: CacheLease, options: ListOptions): Promise<Start> {
  if (options.continue !== undefined) return continued(lease, options);
  await freshen(exchange, lease, options.resourceVersion);
  if (!isExact(options)) return { snapshot: lease.cache.snapshot(), after: "" };
  return { snapshot: exact(lease, options.resourceVersion ?? "", TOO_OLD), after: "" };
}

const TOO_OLD = "The resourceVersion for the provided list is too old.";
const TOKEN_TOO_OLD =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";

function continued(lease: CacheLease, options: ListOptions): Start {
  if (options.resourceVersion !== undefined && options.resourceVersion !== "0") {
    throw ApiError.badRequest("specifying resource version is not allowed when using continue");
  }
  const token = decodeContinue(options.continue ?? "");
  return { snapshot: exact(lease, token.resourceVersion, TOKEN_TOO_OLD), after: cacheKey(token.start) };
}

/** Kubernetes' rule for lists that name a version without `resourceVersionMatch`: exact when paged, otherwise not older. */
function isExact({ resourceVersion, resourceVersionMatch, limit }: ListOptions): boolean {
  if (resourceVersion === undefined || resourceVersion === "0") return false;
  return resourceVersionMatch === "Exact" || (resourceVersionMatch === undefined && limit !== undefined);
}

function exact({ cache, past }: CacheLease, version: string, tooOld: string): Snapshot | PastState {
  const snapshot = cache.at(version);
  if (snapshot === "expired" && remembers(past) && !cache.isForeign(version)) return { past, version, tooOld };
  if (snapshot === "expired") throw ApiError.expired(cache.isForeign(version) ? FOREIGN : tooOld);
  if (snapshot === "ahead") throw ApiError.tooLargeResourceVersion(version, cache.head);
  return snapshot;
}

function remembers(past: Past | undefined): past is Past & RememberedState {
  return past?.objects !== undefined;
}

function pageOf(
  snapshot: Snapshot,
  { options, selection, after }: PageRequest & { readonly after: string },
): Page & Pick<CachedList, "fetched"> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const items: Encoded[] = [];
  let remaining = 0;
  let fetched = 0;
  const { cluster, namespace, isSelective } = selection;
  visitIn(snapshot.objects, { cluster, namespace, after }, (object) => {
    fetched += 1;
    if (!selection.matches(object)) return true;
    if (items.length < limit) items.push(object);
    else remaining += 1;
    return remaining === 0 || !isSelective;
  });
  // Kubernetes does not count the remaining items of a selector.
  return { ...cut(items, snapshot.version, isSelective || remaining === 0 ? remaining > 0 : remaining), fetched };
}

/** Does not count the remaining items: that would read them all. */
async function pastPage(
  { past, version, tooOld }: PastState,
  { options, selection, after }: PageRequest & { readonly after: string },
  { signal }: AuthorizedExchange,
): Promise<Page> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const { cluster, namespace, isSelective } = selection;
  const range = { cluster, namespace, after, ...(isSelective ? {} : { atOnce: limit + 1 }) };
  const items: Encoded[] = [];
  try {
    for await (const object of past.objects(version, range, { signal })) {
      if (!selection.matches(object)) continue;
      if (items.length === limit) return cut(items, version, true);
      items.push(object);
    }
  } catch (error) {
    throw isApiError(error) && error.code === 410 ? ApiError.expired(tooOld) : error;
  }
  return cut(items, version, false);
}

/** @param remaining number of remaining items, or whether there are any */
function cut(items: readonly Encoded[], version: string, remaining: number | boolean): Page {
  const last = items.at(-1);
  if (remaining === false || last === undefined) return { items, meta: { resourceVersion: version } };
  const token = encodeContinue({ resourceVersion: version, start: last.key });
  const rest = remaining === true ? {} : { remainingItemCount: remaining };
  return { items, meta: { resourceVersion: version, continue: token, ...rest } };
}
