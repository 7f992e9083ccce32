import { type DeleteQuery, type KubeObject, parseDeleteOptions } from "@virtual-workspaces/apimachinery";
import { respondSuccess } from "../encode/respond.ts";
import { type Encoded, isEncoded } from "../encoded.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import { answerObject, wantedObject } from "./answer.ts";
import { sentOptions } from "./body.ts";
import { refuseWildcard } from "./scope.ts";
import { keyOf } from "./update.ts";
import { writeRequest } from "./write-request.ts";

/** Answers a DELETE: with a Status when the object is gone, with the object when something still holds it. */
export async function serveDelete(exchange: Exchange, resource: ServedResource): Promise<void> {
  const { definition, writer } = resource;
  const wanted = wantedObject(exchange);
  const query = await deleteQuery(exchange, resource);
  const request = writeRequest(exchange, resource, query);
  const { object, gone } = await writer.delete(keyOf(exchange), query, request);
  if (!gone) {
    // Kubernetes accepts, rather than answers, what was asked for in the older form.
    const code = query.orphanDependents === false ? 202 : 200;
    answerObject(exchange, resource, { object, code, wanted });
    return;
  }
  const { group, plural } = definition;
  const { name } = exchange.info;
  exchange.answered = true;
  const details = { name, ...(group === "" ? {} : { group }), kind: plural, uid: uidOf(object) };
  respondSuccess(exchange.res, { details, format: wanted.format });
}

/** The options of a delete, from its body if it has one. */
export async function deleteQuery(exchange: Exchange, { definition }: ServedResource): Promise<DeleteQuery> {
  refuseWildcard(exchange, definition);
  return parseDeleteOptions(exchange.query, await sentOptions(exchange));
}

function uidOf(object: KubeObject | Encoded): string {
  return isEncoded(object) ? object.uid : (object.metadata.uid ?? "");
}
