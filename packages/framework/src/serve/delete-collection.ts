import { type DeleteQuery, isApiError } from "@virtual-workspaces/apimachinery";
import { negotiate, type Wanted } from "../encode/negotiate.ts";
import { respondSuccess } from "../encode/respond.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import type { Storage } from "../storage.ts";
import { isStatus } from "../storage-writes.ts";
import { Turns } from "../write/turns.ts";
import { deleteQuery } from "./delete.ts";
import { answerDirectList } from "./direct-list.ts";
import { pageRequest, selectedPage } from "./list.ts";
import { writeList } from "./list-body.ts";
import { requestOptions, scopeOf } from "./scope.ts";
import { writeRequest } from "./write-request.ts";

/**
 * Answers a DELETECOLLECTION: deletes what the list would show, one by one, and answers that list, as it was. Not atomic, as in
 * Kubernetes: what was deleted before a failure stays deleted.
 */
export async function serveDeleteCollection(exchange: Exchange, resource: ServedResource): Promise<void> {
  const wanted = negotiate(exchange.req.headers.accept, "list");
  const query = await deleteQuery(exchange, resource);
  if (resource.storage.deleteCollection !== undefined && resource.admit === undefined)
    return passDeleteCollection(exchange, resource, { query, wanted });
  const page = await selectedPage(exchange, resource);
  const request = writeRequest(exchange, resource, query);
  const turns = new Turns();
  for (const { key } of page.items) {
    await turns.next();
    exchange.signal.throwIfAborted();
    const scope = { ...request.scope, namespace: key.namespace };
    await resource.writer.delete(key, query, { ...request, scope }).catch(unlessGone);
  }
  await writeList(exchange, resource, { page, wanted });
}

/** The same by a storage that can do it at once. */
async function passDeleteCollection(
  exchange: Exchange,
  resource: ServedResource,
  { query, wanted }: { readonly query: DeleteQuery; readonly wanted: Wanted },
): Promise<void> {
  const { deleteCollection } = resource.storage as Required<Storage>;
  const { options, selection } = pageRequest(exchange, resource);
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

/** Somebody else was faster. */
function unlessGone(error: unknown): void {
  if (!isApiError(error) || error.reason !== "NotFound") throw error;
}
