import { isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { negotiate } from "../encode/negotiate.ts";
import { type Encoded, encodeObject, isEncoded } from "../encoded.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import { deleteQuery } from "./delete.ts";
import { selectedPage } from "./list.ts";
import { writeList } from "./list-body.ts";
import { writeRequest } from "./write-request.ts";

/**
 * Answers a DELETECOLLECTION: deletes what the list would show, one by one, and answers that list: what is gone as it
 * was, what something still holds as it is now. Not atomic, as in Kubernetes: what was deleted before a failure stays so.
 */
export async function serveDeleteCollection(exchange: Exchange, resource: ServedResource): Promise<void> {
  const wanted = negotiate(exchange.req.headers.accept, "list");
  const query = await deleteQuery(exchange, resource);
  const page = await selectedPage(exchange, resource);
  const request = writeRequest(exchange, resource, query);
  const items: Encoded[] = [];
  for (const item of page.items) {
    exchange.signal.throwIfAborted();
    const { key } = item;
    const scope = { ...request.scope, namespace: key.namespace };
    const deleted = await resource.writer.delete(key, query, { ...request, scope }).catch(unlessGone);
    items.push(deleted === undefined || deleted.gone ? item : encoded(deleted.object, key.cluster));
  }
  await writeList(exchange, resource, { page: { ...page, items }, wanted });
}

/** Somebody else was faster. */
function unlessGone(error: unknown): undefined {
  if (!isApiError(error) || error.reason !== "NotFound") throw error;
}

function encoded(object: KubeObject | Encoded, cluster: string): Encoded {
  return isEncoded(object) ? object : encodeObject(object, cluster);
}
