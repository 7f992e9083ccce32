import type { IncomingHttpHeaders } from "node:http";
import { ApiError, type GroupResource, type ObjectKey, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { FieldSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type Cancellation, timerDelay } from "@virtual-workspaces/transport";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { User } from "../request/user.ts";
import type { ServedResource } from "../resource/served.ts";
import type { CacheLease, GetOptions, RequestOptions, Scope, WriteOptions } from "../storage.ts";
import type { ReadableCache } from "../watch/cache/cache-event.ts";
import { everything } from "../watch/selection.ts";

/** Returns the scope of the request for a storage, without selectors. */
export function scopeOf(exchange: AuthorizedExchange): Scope {
  const { params, cluster, info } = exchange;
  return {
    params,
    cluster,
    namespace: info.namespace,
    labels: everything.labels,
    fields: everything.fields,
    identity: exchange.user,
    hops: exchange.hops,
    via: exchange.via(),
  };
}

/** Rejects reads of one object, and writes, over all logical clusters. @throws ApiError 405 for `*` */
export function refuseWildcard(exchange: AuthorizedExchange, definition: ResourceDefinition): void {
  if (exchange.cluster === WILDCARD) refuseEverywhere(exchange, groupResourceOf(definition));
}

/** Does the same for resources that are not served: over all logical clusters the verb is checked first. @throws ApiError 405 */
export function refuseUnknown(exchange: AuthorizedExchange): void {
  const { cluster, info } = exchange;
  const { group, resource, verb } = info;
  if (cluster === WILDCARD && verb !== "list" && verb !== "watch" && verb !== "")
    refuseEverywhere(exchange, { group, resource });
}

function refuseEverywhere({ info }: AuthorizedExchange, resource: GroupResource): never {
  const { status } = ApiError.methodNotAllowed(resource, info.verb);
  throw new ApiError({ ...status, message: `${status.message} in the \`*\` logical cluster` });
}

/** Returns the options that belong to this request alone. */
export function requestOptions({ user, requestId, signal, warn, audited, req }: AuthorizedExchange): RequestOptions {
  return { user, requestId, signal, warn, audit: audited, acceptEncoding: acceptEncodingOf(req), headers: req.headers };
}

/** Options whose signal is made on first read. A class, as a getter of its own would give each request a hidden class. */
class LateRequestOptions implements RequestOptions {
  readonly user: User;
  readonly requestId: string;
  readonly warn: GetOptions["warn"];
  readonly audit: GetOptions["audit"];
  readonly acceptEncoding: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly #exchange: AuthorizedExchange;

  constructor(exchange: AuthorizedExchange) {
    this.user = exchange.user;
    this.requestId = exchange.requestId;
    this.warn = exchange.warn;
    this.audit = exchange.audited;
    this.acceptEncoding = acceptEncodingOf(exchange.req);
    this.headers = exchange.req.headers;
    this.#exchange = exchange;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get cancellation(): Cancellation {
    return this.#exchange.cancellation;
  }
}

/** Options of a get from a storage that {@link Storage.keepsOptions}. */
export class LateOptions extends LateRequestOptions implements GetOptions {
  declare readonly resourceVersion?: string;

  constructor(exchange: AuthorizedExchange, resourceVersion: string | undefined) {
    super(exchange);
    if (resourceVersion !== undefined) this.resourceVersion = resourceVersion;
  }
}

/** Options of a write to a storage that {@link Storage.keepsOptions}. Never copy them with a spread, which loses the signal. */
export class LateWriteOptions extends LateRequestOptions implements WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: WriteOptions["fieldValidation"];
  declare readonly subresource?: string;

  constructor(exchange: AuthorizedExchange, write: Omit<WriteOptions, keyof RequestOptions | "accept">) {
    super(exchange);
    this.dryRun = write.dryRun;
    this.fieldManager = write.fieldManager;
    this.fieldValidation = write.fieldValidation;
    if (write.subresource !== undefined) this.subresource = write.subresource;
  }
}

function acceptEncodingOf({ headers }: AuthorizedExchange["req"]): string | undefined {
  return headers["accept-encoding"] as string | undefined;
}

/**
 * Leases the cache that answers a request: the storage's own, or one of the hub.
 * @throws errors of the source's list; ApiError 429 while the source is being read
 */
export function leaseOf(
  { core }: AuthorizedExchange,
  resource: ServedResource,
  scope: Scope,
): CacheLease | Promise<CacheLease> {
  const { storage, definition } = resource;
  const lease = storage.cache === undefined ? core.hub.share(resource, scope) : storage.cache(scope);
  return lease instanceof Promise ? warm(lease, definition, core.deadline / 4) : lease;
}

/**
 * Waits for a cache that may still be filled from its source. Kubernetes does not wait (KEP-4568), but its caches are filled
 * when it starts, and these by their first reader. A watch would wait forever: it has no deadline.
 */
async function warm(
  lease: Promise<CacheLease>,
  { plural }: Pick<ResourceDefinition, "plural">,
  patience: number,
): Promise<CacheLease> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, timerDelay(patience), undefined);
  const held = await Promise.race([lease, late]).finally(() => clearTimeout(timer));
  if (held !== undefined) return held;
  lease.then((unused) => unused[Symbol.dispose](), ignore);
  throw ApiError.tooManyRequests(`storage is (re)initializing: the ${plural} have not been read yet; try again`, 1);
}

/** The reader that waits meanwhile gets the error. */
function ignore(): void {}

/** Whether lists are served from the cache that watches read, so that both always agree. */
export function isCached({ storage }: ServedResource): boolean {
  if (storage.appliesSelectors === true) return storage.cache !== undefined && storage.list === undefined;
  return storage.cache !== undefined || storage.changes !== undefined;
}

/** Returns the key of the object that the request names. */
export function keyOf({ cluster, info }: AuthorizedExchange): ObjectKey {
  return { cluster, namespace: info.namespace, name: info.name };
}

/**
 * Rejects a selector on fields that the kind does not support, as Kubernetes does for custom kinds: a mistyped field would
 * otherwise match as if it were empty. A storage that applies selectors itself knows its own fields.
 *
 * @throws ApiError 400 that names the field and the supported ones
 */
export function checkSelectable({ definition, storage }: ServedResource, selector: FieldSelector): void {
  if (selector.empty || storage.appliesSelectors === true) return;
  const own = definition.selectableFields.map(({ name }) => name);
  const namespace = definition.scope === "Namespaced" ? ["metadata.namespace"] : [];
  const known = ["metadata.name", ...namespace, ...own];
  const unknown = selector.fields.find((field) => !known.includes(field));
  if (unknown === undefined) return;
  // Kubernetes words the error of its own kinds without selectable fields differently.
  if (definition.strategy !== undefined && own.length === 0) {
    const only = known.map((field) => JSON.stringify(field)).join(", ");
    throw ApiError.badRequest(`${JSON.stringify(unknown)} is not a known field selector: only ${only}`);
  }
  throw ApiError.badRequest(`field label not supported: ${unknown}; use one of ${known.join(", ")}`);
}

/** How long a read waits for a version that the cache has not reached, in ms (Kubernetes' watch cache: 3 s). */
const PATIENCE = 3_000;

/** Message about a version that another server or an earlier run issued: it cannot be compared with this server's. */
export const FOREIGN = "too old resource version: not issued by this server since it started";

/** Returns the error for a version that is no longer available. */
export function tooOld(version: string, { head }: Pick<ReadableCache, "head">): ApiError {
  return ApiError.expired(`too old resource version: ${version} (${head})`);
}

/**
 * Waits until the cache is as fresh as `resourceVersion` demands: unset means no staler than the source now, "0" any state,
 * otherwise at least that version. Returns `undefined` when there is nothing to wait for.
 *
 * @throws ApiError 410 on a version that cannot be compared, 504 on one that does not come
 */
export function freshen(
  exchange: AuthorizedExchange,
  lease: CacheLease,
  resourceVersion: string | undefined,
): Promise<void> | undefined {
  if (resourceVersion === "0") return undefined;
  if (resourceVersion === undefined) {
    const pending = lease.confirm(exchange);
    return pending instanceof Promise ? pending : undefined;
  }
  if (lease.cache.isForeign(resourceVersion)) throw ApiError.expired(FOREIGN);
  if (lease.cache.reached(resourceVersion)) return undefined;
  // Confirming the cache fetches a version of another server that has not arrived here yet.
  if (lease.past?.waits === true) return confirmed(exchange, lease, resourceVersion);
  return lease.cache.reach(resourceVersion, { signal: exchange.signal, timeout: PATIENCE });
}

async function confirmed(exchange: AuthorizedExchange, lease: CacheLease, version: string): Promise<void> {
  await lease.confirm(exchange);
  await lease.cache.reach(version, { signal: exchange.signal, timeout: PATIENCE });
}
