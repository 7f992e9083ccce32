import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { negotiate, type Wanted } from "../encode/negotiate.ts";
import { PieceWriter } from "../encode/pieces.ts";
import type { ListMetadata, Presented, Representation } from "../encode/representation.ts";
import { respond, respondDocument, startStream } from "../encode/respond.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { type Encoded, encodeObject, isEncoded } from "../watch/cache/encoded.ts";

/** How an object is to be answered. */
export interface ObjectAnswer {
  readonly code: 200 | 201 | 202;
  readonly wanted: Wanted;
}

/** What the client wants an object as. Asked before a write, so that one whose answer nobody could read is not done. */
export function wantedObject({ req }: AuthorizedExchange): Wanted {
  return negotiate(req.headers.accept, "object");
}

/** The one place that answers an object. */
export function answerObject(
  exchange: AuthorizedExchange,
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

/** What is to be written of a list. */
export interface Page {
  readonly items: readonly Encoded[];
  readonly meta: ListMetadata;
}

/** Bodies up to this size are written at once. */
const SMALL = 128 * 1024;
const COMMA = 44;
const SEPARATOR = Buffer.of(COMMA);

/** Writes a list in the form that was asked for: small ones whole, large ones piece by piece at the client's pace. */
export async function writeList(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  list: { readonly page: Page; readonly wanted: Wanted },
): Promise<void> {
  const { res, core } = exchange;
  const { page, wanted } = list;
  const representation = core.representations.of(resource, wanted, exchange);
  exchange.answered = true;
  const { head, tail } = representation.list(page.meta);
  // Asked of all: what cannot be told must be so before a head promises it.
  const verbatim = bodyLength(page, head.length + tail.length);
  const length = representation.verbatim ? verbatim : undefined;
  if (wanted.format === "yaml" || (length ?? page.items.length * TYPICAL_ROW) <= SMALL) {
    const json = Buffer.concat([head, ...joined(page.items, representation), tail]);
    respondDocument(res, { code: 200, json, format: wanted.format });
    return;
  }
  core.fairness.hold(exchange)?.widen(widthOf(length ?? page.items.length * TYPICAL_ROW));
  startStream(res, representation.contentType, length);
  const writer = new PieceWriter(res, core.pieces);
  await writer.add(head);
  await writer.addAll(rendered(page.items, representation), COMMA);
  await writer.add(tail);
  await writer.finish();
  res.end();
}

/** Seats that a large list takes: its pieces are made in turns of their own (Kubernetes: one for 100 objects, at most 10). */
function widthOf(length: number): number {
  return Math.min(10, Math.ceil(length / SMALL));
}

/** Bytes of a Table row or an object's metadata, roughly. */
const TYPICAL_ROW = 512;

function bodyLength({ items }: Page, frame: number): number {
  let length = frame + Math.max(0, items.length - 1);
  for (const item of items) length += item.length ?? item.bytes.length;
  return length;
}

function* rendered(items: readonly Encoded[], representation: Representation): Generator<Buffer> {
  for (const item of items) yield representation.item(item);
}

function* joined(items: readonly Encoded[], representation: Representation): Generator<Buffer> {
  for (let at = 0; at < items.length; at++) {
    if (at > 0) yield SEPARATOR;
    yield representation.item(items[at] as Encoded);
  }
}
