import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ApiError, isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import type { ListOptions } from "@virtual-workspaces/apimachinery/requests";
import { Pace } from "@virtual-workspaces/transport";
import { EncodedBytes } from "../encode/encoded-bytes.ts";
import { TYPED_ITEMS, withItemTypes } from "../encode/item-types.ts";
import { ListSplitter } from "../encode/list-splitter.ts";
import { PieceWriter } from "../encode/pieces.ts";
import type { ListMetadata, Representation, Wanted } from "../encode/representation.ts";
import { keepJson, respond, respondDocument, startStream } from "../encode/respond.ts";
import { yamlList } from "../encode/yaml.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { relayBody } from "../proxy/upstream-answer.ts";
import type { ServedResource } from "../resource/served.ts";
import { type EncodedList, type ItemList, isEncodedList, type ListRequest, type ListResult } from "../storage.ts";
import { clusterOf, type Encoded, encodeObject, isEncoded } from "../watch/cache/encoded.ts";
import type { Selection } from "../watch/selection.ts";
import { requestOptions, scopeOf } from "./scope.ts";

/** Options and selection of a list that a client requests. */
export interface PageRequest {
  readonly options: ListOptions;
  readonly selection: Selection;
}

/** Answers a list from a storage that keeps no history here. Each request calls the storage, which pages as it can. */
export async function serveDirectList(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  request: PageRequest & { readonly wanted: Wanted },
): Promise<void> {
  const { wanted, ...page } = request;
  const typedItems = wanted.typed === true || resource.typedItems === true;
  const list = await listed(exchange, resource, { ...page, typedItems });
  return answerDirectList(exchange, resource, { ...request, list });
}

/** Writes a storage's list in the requested form. */
export async function answerDirectList(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  { wanted, list, ...request }: PageRequest & { readonly wanted: Wanted; readonly list: ListResult },
): Promise<void> {
  const { definition } = resource;
  const { format, as, drop = false, typed = false } = wanted;
  const typedItems = typed || (resource.typedItems ?? "unchanged");
  const isWhole = as === undefined && !drop && request.selection.shard === undefined;
  if (isEncodedList(list) && format === "json" && isWhole && typedItems !== false) {
    const isReady = typedItems !== true || list.typedItems === true;
    const whole = isReady ? list : { body: withItemTypes(decoded(list), definition) };
    return passThrough(exchange, typed ? { ...whole, contentType: TYPED_ITEMS } : whole);
  }
  await writeList(exchange, resource, { page: await pageFrom(exchange, resource, { ...request, list }), wanted });
}

/** Returns a list of such a storage as objects. */
export async function directPage(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  request: PageRequest,
): Promise<Page> {
  return pageFrom(exchange, resource, { ...request, list: await listed(exchange, resource, request) });
}

async function listed(
  exchange: AuthorizedExchange,
  { storage }: ServedResource,
  { options, selection, typedItems = false }: PageRequest & { readonly typedItems?: boolean },
): Promise<ListResult> {
  if (options.continue !== undefined && storage.appliesSelectors !== true) {
    throw ApiError.badRequest("invalid continue token: lists of this resource have a single page; leave continue out");
  }
  const scope = { ...scopeOf(exchange), labels: selection.labels, fields: selection.fields };
  const page = pageOptions(options, storage.appliesSelectors === true);
  const { shard } = selection;
  const typed = typedItems && { typedItems };
  const listOptions = { ...requestOptions(exchange), ...page, ...(shard === undefined ? {} : { shard }), ...typed };
  return (await storage.list?.(scope, listOptions)) ?? { items: [] };
}

async function pageFrom(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  { selection, list }: PageRequest & { readonly list: ListResult },
): Promise<Page> {
  const { items, details, ...meta } = isEncodedList(list) ? await readItems(exchange, resource, list) : list;
  const encoded = Array.from(items, (item) => encode(item, { exchange, resource }));
  const page = { items: encoded, meta: { ...meta, resourceVersion: meta.resourceVersion ?? "", ...details } };
  if (resource.storage.appliesSelectors !== true)
    return inShard({ ...page, items: encoded.filter((item) => selection.matches(item)) }, selection);
  // Most API servers ignore shard selectors. A page may then have fewer items than its limit, even none.
  const isOurs = selection.shard === undefined ? undefined : (item: Encoded) => selection.inShard(item);
  return inShard(isOurs === undefined ? page : { ...page, items: encoded.filter(isOurs) }, selection);
}

/** Returns a page with the metadata of a shard: its selector, and as with other selectors no number of remaining items. */
export function inShard(page: Page, { shard }: Selection): Page {
  if (shard === undefined) return page;
  const { remainingItemCount: _unknown, ...meta } = page.meta;
  return { items: page.items, meta: { ...meta, shardInfo: { selector: shard.toString() } } };
}

/** A storage that leaves selectors to the framework gets no page options: selection must come before paging. */
function pageOptions(options: ListOptions, appliesSelectors: boolean): Partial<ListRequest> {
  const { limit, continue: token, resourceVersion, resourceVersionMatch } = options;
  return {
    ...(limit === undefined || !appliesSelectors ? {} : { limit }),
    ...(token === undefined || !appliesSelectors ? {} : { continue: token }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
  };
}

/**
 * Splits a list that arrived as bytes into items, and parses no more than the requested form needs.
 *
 * @throws ApiError 503 when the list is incomplete or of another kind: a shorter list must not pass for the whole
 */
async function readItems(
  exchange: AuthorizedExchange,
  { definition }: ServedResource,
  list: EncodedList,
): Promise<ItemList> {
  const items: Encoded[] = [];
  try {
    const context = { definition, scope: exchange };
    const around = await cutList(list, (bytes) => void items.push(EncodedBytes.item(bytes, context)));
    const { kind, metadata } = around;
    if (kind !== undefined && kind !== definition.listKind) throw new Error(`unexpected kind ${String(kind)}`);
    return { ...metadata, items };
  } catch (error) {
    if (isApiError(error) || exchange.signal.aborted) throw error;
    exchange.log({ level: "warn", message: "reading a list failed", error: String(error) });
    throw ApiError.serviceUnavailable(`cannot read the list of ${definition.plural} from its source: try again`, 1);
  }
}

interface Around {
  readonly kind?: unknown;
  readonly metadata?: Omit<ItemList, "items">;
}

/** Calls `item` for each item and returns the rest of the list. @throws Error on bytes that are no list */
async function cutList(list: EncodedList, item: (bytes: Buffer) => void): Promise<Around> {
  const around: Buffer[] = [];
  const splitter = new ListSplitter({ around: (bytes) => void around.push(Buffer.from(bytes)), item });
  const body = decoded(list);
  if (body instanceof Uint8Array) splitter.push(asBuffer(body));
  else for await (const piece of body) splitter.push(asBuffer(piece));
  splitter.end();
  return parseOwnJson(Buffer.concat(around).toString("utf8")) as Around;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function encode(
  item: KubeObject | Encoded,
  context: { readonly exchange: AuthorizedExchange; readonly resource: ServedResource },
): Encoded {
  if (isEncoded(item)) return item;
  const { exchange, resource } = context;
  return encodeObject(item, clusterOf(item, exchange), resource.definition.selectableFields);
}

/**
 * Answers a list with the storage's own bytes, at the client's pace, decompressed for clients that do not accept the
 * encoding. A list that breaks off closes the connection: a shorter list must not pass for the whole.
 */
async function passThrough(exchange: AuthorizedExchange, list: EncodedList): Promise<void> {
  const { req, res } = exchange;
  const { contentEncoding, contentType = "application/json" } = list;
  const asItIs = contentEncoding === undefined || acceptsEncoding(req.headers["accept-encoding"], contentEncoding);
  const body = asItIs ? list.body : decoded(list);
  exchange.answered = true;
  if (contentEncoding !== undefined) res.appendHeader("Vary", "Accept-Encoding");
  if (contentEncoding !== undefined && asItIs) res.setHeader("Content-Encoding", contentEncoding);
  const length = body instanceof Uint8Array ? body.length : asItIs ? list.length : undefined;
  startStream(res, contentType, length);
  if (body instanceof Uint8Array) {
    res.end(body);
    return;
  }
  // A middleware that wraps the response may keep the memory of what it is given (compression does).
  if (asItIs && list.into !== undefined && !Object.hasOwn(res, "write")) return relayBody(res, list.into);
  // When the client disconnects, leaving the loop ends the iterator and with it the body.
  const left = whenClosed(exchange);
  for await (const piece of body) {
    if (!res.write(piece) && (await left.drained())) break;
  }
  if (!res.destroyed) res.end();
}

/** Waits until the socket drains or the client disconnects, with one listener each for all waits. */
function whenClosed({ res }: AuthorizedExchange): { drained(): Promise<boolean> } {
  let goOn: ((left: boolean) => void) | undefined;
  res.on("drain", () => goOn?.(false));
  res.once("close", () => goOn?.(true));
  return {
    drained: () =>
      new Promise((resolve) => {
        if (res.destroyed) resolve(true);
        else goOn = resolve;
      }),
  };
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  br: createBrotliDecompress,
  deflate: createInflate,
  gzip: createGunzip,
};

/** Whether an `Accept-Encoding` header names `encoding`. As in Kubernetes, no header means no encoding. */
function acceptsEncoding(header: string | string[] | undefined, encoding: string): boolean {
  return String(header ?? "")
    .split(",")
    .some((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      return (name === encoding || name === "*") && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}

/** Decompresses a list. @throws Error on an encoding that Node cannot decode */
function decoded({ body, contentEncoding }: EncodedList): EncodedList["body"] {
  if (contentEncoding === undefined) return body;
  const decoder = DECODERS[contentEncoding]?.();
  if (decoder === undefined) throw new Error(`cannot decode a list encoded as ${contentEncoding}`);
  // Errors of both ends surface in the iteration.
  pipeline(Readable.from(body instanceof Uint8Array ? [body] : body), decoder, () => undefined);
  return decoder;
}

/** Items and metadata of a list to write. */
export interface Page {
  readonly items: readonly Encoded[];
  readonly meta: ListMetadata;
}

/** Writes a list in the requested form: small lists at once, large ones in pieces at the client's pace. */
export async function writeList(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  list: { readonly page: Page; readonly wanted: Wanted },
): Promise<void> {
  const { res, core } = exchange;
  const { page, wanted } = list;
  const representation = core.representations.of(resource, wanted, exchange);
  exchange.answered = true;
  const { head, tail } = representation.list(page.meta, page.items.length);
  // Reads the length of every item: one that cannot be converted must fail before the head is sent.
  const verbatim = bodyLength(page, head.length + tail.length);
  // Whether an item begins with its type is known once it is read.
  const length = representation.verbatim && representation.itemTypes === undefined ? verbatim : undefined;
  const estimate = wanted.as === undefined ? verbatim : page.items.length * TYPICAL_ROW;
  const whole = (): Buffer => Buffer.concat([head, ...joined(page.items, representation), tail]);
  const isYaml = wanted.format === "yaml";
  if (estimate <= SMALL) {
    if (isYaml) respondDocument(res, { code: 200, json: whole(), format: "yaml" });
    else respond(res, { code: 200, contentType: representation.contentType, body: whole() });
    return;
  }
  core.fairness.hold(exchange)?.widen(widthOf(estimate));
  if (isYaml) {
    keepJson(res, whole);
    const frame = Buffer.concat([head, tail]);
    return writePaced(exchange, yamlList(frame, documents(page.items, representation)), "application/yaml");
  }
  startStream(res, representation.contentType, length);
  const writer = new PieceWriter(res, core.pieces);
  const { first, ...between } = separation(representation);
  await writer.addAll([head, first]);
  await writer.addAll(rendered(page.items, representation), between);
  await writer.add(tail);
  await writer.finish();
  res.end();
}

/** Writes what takes long to make, with turns of the event loop for other requests in between. */
async function writePaced(
  { res, core }: AuthorizedExchange,
  pieces: Iterable<Buffer>,
  contentType: string,
): Promise<void> {
  startStream(res, contentType);
  const writer = new PieceWriter(res, core.pieces);
  const pace = new Pace();
  for (const piece of pieces) {
    await writer.add(piece);
    if (pace.isOver) await pace.rest();
    if (res.destroyed) return;
  }
  await writer.finish();
  res.end();
}

/** Maximum size of a body that is written at once, in bytes. */
const SMALL = 128 * 1024;

/** Bytes between the items of a list, and the number of bytes to leave out at their beginning. */
interface ItemSeparation {
  /** Before the first item. */
  readonly first: Buffer;
  readonly separator: Buffer;
  readonly skip: number;
}

function separation({ separator, itemTypes }: Representation): ItemSeparation {
  const comma = separator === undefined ? NOTHING : Buffer.of(separator);
  if (itemTypes === undefined) return { first: NOTHING, separator: comma, skip: 0 };
  return { first: itemTypes.opening, separator: Buffer.concat([comma, itemTypes.opening]), skip: itemTypes.length };
}

const NOTHING = Buffer.alloc(0);

/** Returns the seats of a large list, whose pieces are made in turns (Kubernetes: one for 100 objects, at most 10). */
function widthOf(length: number): number {
  return Math.min(10, Math.ceil(length / SMALL));
}

/** Typical size of a Table row or an object's metadata, in bytes. */
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
  const { first, separator, skip } = separation(representation);
  for (let at = 0; at < items.length; at++) {
    yield at > 0 ? separator : first;
    yield representation.item(items[at] as Encoded).subarray(skip);
  }
}

/** Items as documents of their own. */
function* documents(items: readonly Encoded[], representation: Representation): Generator<Buffer> {
  const { first, skip } = separation(representation);
  for (const item of items) yield Buffer.concat([first, representation.item(item).subarray(skip)]);
}
