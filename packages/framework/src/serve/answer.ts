import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { negotiate, type Wanted } from "../encode/negotiate.ts";
import type { Presented } from "../encode/representations.ts";
import { respond, respondDocument } from "../encode/respond.ts";
import { type Encoded, encodeObject, isEncoded } from "../watch/cache/encoded.ts";
import type { Exchange } from "../exchange.ts";

/** How an object is to be answered. */
export interface ObjectAnswer {
  readonly code: 200 | 201 | 202;
  readonly wanted: Wanted;
}

/** What the client wants an object as. Asked before a write, so that one whose answer nobody could read is not done. */
export function wantedObject({ req }: Exchange): Wanted {
  return negotiate(req.headers.accept, "object");
}

/** The one place that answers an object. */
export function answerObject(
  exchange: Exchange,
  presented: Presented,
  { object, code, wanted }: ObjectAnswer & { readonly object: KubeObject | Encoded },
): void {
  const { res, core } = exchange;
  const encoded = isEncoded(object) ? object : encodeObject(object, exchange.cluster);
  exchange.answered = true;
  const json = core.representations.of(presented, wanted, exchange).object(encoded);
  if (wanted.format === "json") respond(res, { code, contentType: "application/json", body: json });
  else respondDocument(res, { code, json, format: wanted.format });
}
