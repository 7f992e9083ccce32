import { isApiError } from "@virtual-workspaces/apimachinery";
import { negotiate } from "../encode/negotiate.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import { Turns } from "../write/turns.ts";
import { deleteQuery } from "./delete.ts";
import { selectedPage } from "./list.ts";
import { writeList } from "./list-body.ts";
import { writeRequest } from "./write-request.ts";

/**
 * Answers a DELETECOLLECTION: deletes what the list would show, one by one, and answers that list, as it was. Not atomic, as in
 * Kubernetes: what was deleted before a failure stays deleted.
 */
export async function serveDeleteCollection(exchange: Exchange, resource: ServedResource): Promise<void> {
  const wanted = negotiate(exchange.req.headers.accept, "list");
  const query = await deleteQuery(exchange, resource);
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

/** Somebody else was faster. */
function unlessGone(error: unknown): void {
  if (!isApiError(error) || error.reason !== "NotFound") throw error;
}
