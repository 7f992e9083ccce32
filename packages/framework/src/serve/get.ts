import { ApiError, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { parseListOptions } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf } from "../definition.ts";
import { negotiate, type Presented, type Wanted } from "../encode/representation.ts";
import { respond, respondDocument } from "../encode/respond.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { InProcessAnswer } from "../listener/in-process.ts";
import type { ServedResource } from "../resource/served.ts";
import type { CacheLease, GetOptions } from "../storage.ts";
import { type Encoded, encodeObject, isEncoded } from "../watch/cache/encoded.ts";
import { freshen, isCached, LateOptions, leaseOf, refuseWildcard, requestOptions, scopeOf } from "./scope.ts";

/** Answers a GET of one object. Synchronous when the storage is. */
export function serveGet(exchange: AuthorizedExchange, resource: ServedResource): void | Promise<void> {
  return readObject(exchange, resource, answerFound);
}

/** Callback that receives the object that was read. */
type Use = (exchange: AuthorizedExchange, resource: ServedResource, found: KubeObject | Encoded) => void;

/** Reads the object that a request names, as fresh as the request demands. @throws ApiError 404 */
export function readObject(exchange: AuthorizedExchange, resource: ServedResource, use: Use): void | Promise<void> {
  refuseWildcard(exchange, resource.definition);
  const { storage } = resource;
  const key: ObjectKey = { cluster: exchange.cluster, namespace: exchange.info.namespace, name: exchange.info.name };
  const { resourceVersion } = exchange.search === "" ? NO_OPTIONS : parseListOptions(exchange.query);
  if (storage.get === undefined || (isCached(resource) && isVersion(resourceVersion))) {
    const lease = leaseOf(exchange, resource, scopeOf(exchange));
    if (lease instanceof Promise)
      return lease.then((held) => readLease(exchange, resource, { lease: held, key, resourceVersion, use }));
    return readLease(exchange, resource, { lease, key, resourceVersion, use });
  }
  const options =
    storage.keepsOptions === true ? new LateOptions(exchange, resourceVersion) : getOptions(exchange, resourceVersion);
  const found = storage.get(scopeOf(exchange), key, options);
  if (found instanceof Promise)
    return found.then((object) => use(exchange, resource, there(exchange, resource, object)));
  return use(exchange, resource, there(exchange, resource, found));
}

function getOptions(exchange: AuthorizedExchange, resourceVersion: string | undefined): GetOptions {
  const request = requestOptions(exchange);
  return resourceVersion === undefined ? request : { ...request, resourceVersion };
}

const NO_OPTIONS: { readonly resourceVersion?: string } = {};

interface Read {
  readonly lease: CacheLease;
  readonly key: ObjectKey;
  readonly resourceVersion: string | undefined;
  readonly use: Use;
}

/** Whether a request names a version. The cache knows whether it has reached the version, a storage may not. */
function isVersion(resourceVersion: string | undefined): boolean {
  return resourceVersion !== undefined && resourceVersion !== "0";
}

function readLease(exchange: AuthorizedExchange, resource: ServedResource, read: Read): void | Promise<void> {
  const { lease, key, resourceVersion, use } = read;
  const finish = (): void => {
    const found = lease.cache.get(key);
    if (found === undefined) lease.checkAbsent?.();
    use(exchange, resource, there(exchange, resource, found));
  };
  const release = (): void => lease[Symbol.dispose]();
  let pending: Promise<void> | undefined;
  try {
    pending = freshen(exchange, lease, resourceVersion);
    if (pending === undefined) finish();
  } finally {
    if (pending === undefined) release();
  }
  return pending?.then(finish).finally(release);
}

function there(
  { info }: AuthorizedExchange,
  { definition }: ServedResource,
  found: KubeObject | Encoded | undefined,
): KubeObject | Encoded {
  if (found === undefined) throw ApiError.notFound(groupResourceOf(definition), info.name);
  return found;
}

function answerFound(exchange: AuthorizedExchange, resource: ServedResource, object: KubeObject | Encoded): void {
  answerObject(exchange, resource, { object, code: 200, wanted: wantedObject(exchange) });
}

/** Status code and form of an answered object. */
interface ObjectAnswer {
  readonly code: 200 | 201 | 202;
  readonly wanted: Wanted;
}

/** Returns the form that the client accepts. Writes call it first, so that nothing is written when no form can answer. */
export function wantedObject({ req }: AuthorizedExchange): Wanted {
  return negotiate(req.headers.accept, "object");
}

/** Writes an object as the response; all handlers answer objects through it. */
export function answerObject(
  exchange: AuthorizedExchange,
  presented: Presented,
  { object, code, wanted }: ObjectAnswer & { readonly object: KubeObject | Encoded },
): void {
  const { res, core } = exchange;
  const encoded = isEncoded(object) ? object : encodeObject(object, exchange.cluster);
  exchange.answered = true;
  const { contentType, object: render } = core.representations.of(presented, wanted, exchange);
  const body = render(encoded);
  if (res instanceof InProcessAnswer) res.object = encoded;
  if (wanted.format === "yaml") respondDocument(res, { code, json: body, format: "yaml" });
  else respond(res, { code, contentType, body });
}
