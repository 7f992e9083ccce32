import { isApiError, type KubeObject, type StatusDetails } from "@virtual-workspaces/apimachinery";
import { type DeleteQuery, parseDeleteOptions } from "@virtual-workspaces/apimachinery/requests";
import { Pace } from "@virtual-workspaces/transport";
import { negotiate, type Wanted } from "../encode/representation.ts";
import { respondSuccess } from "../encode/respond.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { isStatus, type Storage } from "../storage.ts";
import { type Encoded, isEncoded } from "../watch/cache/encoded.ts";
import { sentOptions } from "./body.ts";
import { answerDirectList, type PageRequest, writeList } from "./direct-list.ts";
import { answerObject, wantedObject } from "./get.ts";
import { pageRequest, selectedPage } from "./list.ts";
import { keyOf, refuseWildcard, requestOptions, scopeOf } from "./scope.ts";
import { writeRequest } from "./write-request.ts";
import { passes } from "./writes.ts";

/** Answers a DELETE: with a Status when the object is gone, or with the object when its removal is blocked or its kind returns it. */
export async function serveDelete(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  const wanted = wantedObject(exchange);
  const query = await deleteQuery(exchange, resource);
  const { object, gone, details } = await deleted(exchange, resource, query);
  if (object !== undefined) {
    // Kubernetes answers 202 when the deprecated `orphanDependents: false` leaves the object in place.
    const code = query.orphanDependents === false && !gone ? 202 : 200;
    answerObject(exchange, resource, { object, code, wanted });
    return;
  }
  exchange.answered = true;
  respondSuccess(exchange.res, { details, format: wanted.format });
}

/** Result of a delete: an object, or the details of the removed one. */
interface Left {
  readonly object?: KubeObject | Encoded;
  readonly gone?: boolean;
  readonly details: StatusDetails;
}

async function deleted(exchange: AuthorizedExchange, resource: ServedResource, query: DeleteQuery): Promise<Left> {
  const { definition, storage, writer } = resource;
  const { group, plural } = definition;
  const request = writeRequest(exchange, resource, query);
  const key = keyOf(exchange);
  const about = { name: key.name, ...(group === "" ? {} : { group }), kind: plural };
  if (passes(resource)) {
    const { scope, options } = request;
    options.signal.throwIfAborted();
    const left = await storage.delete?.(scope, key, { ...options, ...query });
    if (left === undefined || isStatus(left)) return { details: left?.details ?? about };
    return { object: left, details: about };
  }
  const { object, gone } = await writer.delete(key, query, request);
  const isTold = !gone || definition.strategy?.returnDeleted === true;
  return isTold ? { object, gone, details: about } : { details: { ...about, uid: uidOf(object) } };
}

/** Parses the options of a delete, from the query and the body. */
async function deleteQuery(exchange: AuthorizedExchange, { definition }: ServedResource): Promise<DeleteQuery> {
  refuseWildcard(exchange, definition);
  return parseDeleteOptions(exchange.query, await sentOptions(exchange, definition));
}

function uidOf(object: KubeObject | Encoded): string {
  return isEncoded(object) ? object.uid : (object.metadata.uid ?? "");
}

/**
 * Answers a DELETECOLLECTION: deletes the objects that a list would show, one by one, and returns that list. Not atomic, as
 * in Kubernetes: objects deleted before a failure stay deleted.
 */
export async function serveDeleteCollection(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  const wanted = negotiate(exchange.req.headers.accept, "list");
  const query = await deleteQuery(exchange, resource);
  const pageOptions = pageRequest(exchange, resource);
  const isForwarded = resource.storage.deleteCollection !== undefined && resource.admit === undefined;
  // Security: most API servers ignore shard selectors, and would delete the objects of all shards.
  if (isForwarded && pageOptions.selection.shard === undefined)
    return passDeleteCollection(exchange, resource, { ...pageOptions, query, wanted });
  const page = await selectedPage(exchange, resource, pageOptions);
  const request = writeRequest(exchange, resource, query);
  const pace = new Pace();
  for (const { key } of page.items) {
    if (pace.isOver) await pace.rest();
    exchange.signal.throwIfAborted();
    const scope = { ...request.scope, namespace: key.namespace };
    await resource.writer.delete(key, query, { ...request, scope }).catch(unlessGone);
  }
  await writeList(exchange, resource, { page, wanted });
}

/** Forwards a DELETECOLLECTION to a storage that supports it. */
async function passDeleteCollection(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  { options, selection, query, wanted }: PageRequest & { readonly query: DeleteQuery; readonly wanted: Wanted },
): Promise<void> {
  const { deleteCollection } = resource.storage as Required<Storage>;
  const { labelSelector: labels, fieldSelector: fields, ...page } = options;
  const scope = { ...scopeOf(exchange), labels, fields };
  exchange.signal.throwIfAborted();
  const answer = await deleteCollection.call(resource.storage, scope, {
    ...requestOptions(exchange),
    ...page,
    ...query,
  });
  if (!isStatus(answer)) return answerDirectList(exchange, resource, { options, selection, wanted, list: answer });
  exchange.answered = true;
  respondSuccess(exchange.res, { details: answer.details ?? {}, format: wanted.format });
}

/** Ignores an object that another request has deleted meanwhile. */
function unlessGone(error: unknown): void {
  if (!isApiError(error) || error.reason !== "NotFound") throw error;
}
