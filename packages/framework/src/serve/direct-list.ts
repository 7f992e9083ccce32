import { ApiError, type KubeObject, type ListOptions, parseOwnJson } from "@virtual-workspaces/apimachinery";
import { acceptsEncoding, decoded } from "../encode/content-encoding.ts";
import type { Wanted } from "../encode/negotiate.ts";
import { startStream } from "../encode/respond.ts";
import { clusterOf, type Encoded, encodeObject, isEncoded } from "../encoded.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import { type EncodedList, type ItemList, isEncodedList, type ListRequest, type ListResult } from "../storage.ts";
import type { Selection } from "../watch/selection.ts";
import { type Page, writeList } from "./list-body.ts";
import { requestOptions, scopeOf } from "./scope.ts";

/** What a client asks to see of a list. */
export interface PageRequest {
  readonly options: ListOptions;
  readonly selection: Selection;
}

/** A list from a storage that keeps no history here: it is asked each time, and pages as it can itself. */
export async function serveDirectList(
  exchange: Exchange,
  resource: ServedResource,
  request: PageRequest & { readonly wanted: Wanted },
): Promise<void> {
  const { wanted: _wanted, ...asked } = request;
  return answerDirectList(exchange, resource, { ...request, list: await listed(exchange, resource, asked) });
}

/** What a storage has listed, in the form that was asked for. */
export async function answerDirectList(
  exchange: Exchange,
  resource: ServedResource,
  { wanted, list, ...asked }: PageRequest & { readonly wanted: Wanted; readonly list: ListResult },
): Promise<void> {
  if (isEncodedList(list) && wanted.format === "json" && wanted.as === undefined) return passThrough(exchange, list);
  await writeList(exchange, resource, { page: await pageFrom(exchange, resource, { ...asked, list }), wanted });
}

/** The same, as objects. */
export async function directPage(exchange: Exchange, resource: ServedResource, request: PageRequest): Promise<Page> {
  return pageFrom(exchange, resource, { ...request, list: await listed(exchange, resource, request) });
}

async function listed(
  exchange: Exchange,
  { storage }: ServedResource,
  { options, selection }: PageRequest,
): Promise<ListResult> {
  if (options.continue !== undefined && storage.narrows !== true) {
    throw ApiError.badRequest("invalid continue token: this resource is listed whole; leave continue out");
  }
  const scope = { ...scopeOf(exchange), labels: selection.labels, fields: selection.fields };
  const page = pageOptions(options, storage.narrows === true);
  return (await storage.list?.(scope, { ...requestOptions(exchange), ...page })) ?? { items: [] };
}

async function pageFrom(
  exchange: Exchange,
  resource: ServedResource,
  { selection, list }: PageRequest & { readonly list: ListResult },
): Promise<Page> {
  const { items, ...meta } = isEncodedList(list) ? await parseBody(list) : list;
  const encoded = Array.from(items, (item) => encode(item, { exchange, resource }));
  return {
    items: resource.storage.narrows === true ? encoded : encoded.filter((item) => selection.matches(item)),
    meta: { ...meta, resourceVersion: meta.resourceVersion ?? "" },
  };
}

/** A storage that leaves selecting to us cannot page either: its page would be selected from after it was cut. */
function pageOptions(options: ListOptions, narrows: boolean): Partial<ListRequest> {
  const { limit, continue: token, resourceVersion, resourceVersionMatch } = options;
  return {
    ...(limit === undefined || !narrows ? {} : { limit }),
    ...(token === undefined || !narrows ? {} : { continue: token }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
  };
}

/** The storage's own bytes; without their encoding for a client that does not take it. */
async function passThrough(exchange: Exchange, list: EncodedList): Promise<void> {
  const { req, res } = exchange;
  const { contentEncoding, contentType = "application/json" } = list;
  const asItIs = contentEncoding === undefined || acceptsEncoding(req.headers["accept-encoding"], contentEncoding);
  const body = asItIs ? list.body : decoded(list);
  exchange.answered = true;
  if (contentEncoding !== undefined) res.setHeader("Vary", "Accept-Encoding");
  if (contentEncoding !== undefined && asItIs) res.setHeader("Content-Encoding", contentEncoding);
  startStream(res, contentType, body instanceof Uint8Array ? body.length : undefined);
  if (body instanceof Uint8Array) {
    res.end(body);
    return;
  }
  for await (const piece of body) {
    if (!res.write(piece)) await drained(exchange);
  }
  res.end();
}

function drained({ res, signal }: Exchange): Promise<void> {
  return new Promise((resolve, reject) => {
    res.once("drain", resolve);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function parseBody(list: EncodedList): Promise<ItemList> {
  const body = decoded(list);
  const pieces: Uint8Array[] = body instanceof Uint8Array ? [body] : [];
  if (!(body instanceof Uint8Array)) for await (const piece of body) pieces.push(piece);
  const document = parseOwnJson(Buffer.concat(pieces).toString("utf8")) as {
    items: KubeObject[];
    metadata?: Omit<ItemList, "items">;
  };
  return { items: document.items, ...document.metadata };
}

function encode(
  item: KubeObject | Encoded,
  context: { readonly exchange: Exchange; readonly resource: ServedResource },
): Encoded {
  if (isEncoded(item)) return item;
  const { exchange, resource } = context;
  return encodeObject(item, clusterOf(item, exchange), resource.definition.selectableFields);
}
