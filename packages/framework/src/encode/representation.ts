import {
  ApiError,
  apiVersionOf,
  type JsonObject,
  type KubeObject,
  type ObjectMeta,
  quote,
} from "@virtual-workspaces/apimachinery";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { bookmarkObject } from "@virtual-workspaces/apimachinery/requests";
import { compileTable } from "@virtual-workspaces/apimachinery/tables";
import type { ResourceDefinition } from "../definition.ts";
import { decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { cborDocument, cborListHead, cborValue } from "./cbor.ts";
import { CBOR_EVENTS, type EventFormat, JSON_EVENTS } from "./event-format.ts";
import { type ItemTypes, itemTypes, TYPED_ITEMS } from "./item-types.ts";
import { ManagedFieldsCuts } from "./scan-metadata.ts";

/** Encodes objects, lists and events for a client: whole, as Table or as PartialObjectMetadata, in JSON or CBOR. */
export interface Representation {
  /** Equal keys produce equal bytes for the same object of the same kind. */
  readonly key: string;
  /** Content type of bodies. */
  readonly contentType: string;
  /** Frames of events. */
  readonly events: EventFormat;
  /** Whether {@link object} returns the object's own bytes, so that caching them has no use. */
  readonly verbatim: boolean;
  /** Encodes a single object, as in the response to a GET and in events. */
  object(encoded: Encoded): Buffer;
  /** Encodes one object in a list. */
  item(encoded: Encoded): Buffer;
  /** Beginning of {@link item} that a list leaves out. @default none */
  readonly itemTypes?: Pick<ItemTypes, "length" | "opening">;
  /** Byte between two items of a list. @default none */
  readonly separator?: number;
  /** Returns the bytes before and after the items of a list of `count` items. */
  list(meta: ListMetadata, count: number): { readonly head: Buffer; readonly tail: Buffer };
  /** Encodes the object of a BOOKMARK event. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer;
}

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly shardInfo?: { readonly selector: string };
}

const COMMA = ",".charCodeAt(0);
/** Properties of all representations in JSON. */
const JSON_FORM = { contentType: "application/json", events: JSON_EVENTS, separator: COMMA } as const;

/** Encodes objects unchanged, as their own bytes; list items with or without their type. */
function jsonRepresentation(
  definition: ResourceDefinition,
  typedItems: boolean,
  contentType: string = JSON_FORM.contentType,
): Representation {
  const apiVersion = apiVersionOf(definition);
  const types = typedItems ? undefined : itemTypes(definition);
  return {
    key: "json",
    ...JSON_FORM,
    contentType,
    verbatim: true,
    object: (encoded) => encoded.bytes,
    item: types === undefined ? (encoded) => encoded.bytes : types.begin,
    ...(types && { itemTypes: types }),
    list: (meta) => listFrame({ kind: definition.listKind, apiVersion }, meta, "items"),
    bookmark: (resourceVersion, initialEventsEnd) =>
      Buffer.from(
        JSON.stringify(bookmarkObject({ apiVersion, kind: definition.kind, resourceVersion, initialEventsEnd })),
      ),
  };
}

/** Encodes objects as their own bytes without `metadata.managedFields`. */
function droppingRepresentation(json: Representation, cuts: ManagedFieldsCuts): Representation {
  return {
    ...json,
    key: `${json.key} drop`,
    verbatim: false,
    object: (encoded) => cuts.without(json.object(encoded)),
    item: (encoded) => cuts.without(json.item(encoded)),
  };
}

/** Returns the bytes around the items of a list document with the other fields `fields`. */
function listFrame(
  fields: object,
  meta: ListMetadata,
  items: string,
): { readonly head: Buffer; readonly tail: Buffer } {
  const open = JSON.stringify({ ...fields, metadata: meta }).slice(0, -1);
  return { head: Buffer.from(`${open},${JSON.stringify(items)}:[`), tail: LIST_TAIL };
}

const LIST_TAIL = Buffer.from("]}\n");

/** Encodes a document for one object from its parsed form. */
function stringify(document: object): Buffer {
  return Buffer.from(stringifyJson(document));
}

const META = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" } as const;

/** Metadata of objects that clients get who request only metadata. */
export interface MetadataForm {
  /** Name; forms with equal names return equal results, so that watches can share the encoded bytes. */
  readonly name: string;
  /** Returns the metadata. The object is a copy that it may change. */
  readonly of: (object: KubeObject) => ObjectMeta;
}

/** Metadata only (Kubernetes' PartialObjectMetadata), for garbage collectors and metadata informers. */
export function partialRepresentation(form: MetadataForm | undefined, drop = false): Representation {
  const partial = (encoded: Encoded): Buffer => stringify(partialObject(decodeObject(encoded), { form, drop }));
  return {
    key: `partial${drop ? " drop" : ""}${form === undefined ? "" : ` ${form.name}`}`,
    ...JSON_FORM,
    verbatim: false,
    object: partial,
    item: partial,
    list: (meta) => listFrame({ kind: "PartialObjectMetadataList", apiVersion: META.apiVersion }, meta, "items"),
    bookmark: (resourceVersion, initialEventsEnd) =>
      stringify(bookmarkObject({ ...META, resourceVersion, initialEventsEnd })),
  };
}

/** Returns the object's metadata as a PartialObjectMetadata. */
function partialObject(
  object: KubeObject,
  { form, drop }: { readonly form: MetadataForm | undefined; readonly drop: boolean },
): object {
  const metadata = form === undefined ? object.metadata : form.of(object);
  if (drop) delete metadata.managedFields;
  return { kind: META.kind, apiVersion: META.apiVersion, metadata };
}

/** How much of the object a Table row contains (`includeObject`). */
type IncludeObject = "None" | "Metadata" | "Object";

/**
 * Parses the `includeObject` parameter.
 *
 * @throws ApiError 400 on anything but the three values
 */
function includeObject(query: URLSearchParams): IncludeObject {
  const text = query.get("includeObject") || "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  throw ApiError.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Output of `kubectl get`: rows with the kind's columns (Kubernetes' meta.k8s.io/v1 Table). */
export function tableRepresentation(definition: ResourceDefinition, include: IncludeObject): Representation {
  const { definitions, cells } = compileTable(definition.columns);
  const frame = (meta: ListMetadata): { readonly head: Buffer; readonly tail: Buffer } =>
    listFrame({ kind: "Table", apiVersion: "meta.k8s.io/v1", columnDefinitions: definitions }, meta, "rows");
  const row = (object: KubeObject, included = include): object => ({
    cells: cells(object, new Date()),
    ...rowObject(object, included),
  });
  const one = (object: KubeObject, included = include): Buffer => {
    const { head, tail } = frame({ resourceVersion: object.metadata.resourceVersion ?? "" });
    return Buffer.concat([head, stringify(row(object, included)), tail.subarray(0, -1)]);
  };
  // A bookmark's information is in its object's metadata, so it always has that.
  const bookmarked = include === "None" ? "Metadata" : include;
  return {
    key: `table ${include}`,
    ...JSON_FORM,
    verbatim: false,
    object: (encoded) => one(decodeObject(encoded)),
    item: (encoded: Encoded) => stringify(row(decodeObject(encoded))),
    list: frame,
    bookmark: (resourceVersion, initialEventsEnd) =>
      one(
        bookmarkObject({
          apiVersion: apiVersionOf(definition),
          kind: definition.kind,
          resourceVersion,
          initialEventsEnd,
        }),
        bookmarked,
      ),
  };
}

function rowObject(object: KubeObject, include: IncludeObject): object {
  if (include === "Object") return { object };
  if (include === "None") return { object: null };
  return {
    object: {
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: object.metadata satisfies ObjectMeta,
    },
  };
}

/** Encodes what another representation encodes in JSON, in CBOR. */
function cborRepresentation(json: Representation): Representation {
  const { itemTypes: types } = json;
  const untyped = (item: Buffer): Buffer =>
    types === undefined ? item : Buffer.concat([types.opening, item.subarray(types.length)]);
  return {
    key: `CBOR ${json.key}`,
    contentType: "application/cbor",
    events: CBOR_EVENTS,
    verbatim: false,
    object: (encoded) => cborDocument(json.object(encoded)),
    item: (encoded) => cborValue(untyped(json.item(encoded))),
    list: (meta, count) => {
      const { head, tail } = json.list(meta, 0);
      const document = parseOwnJson(Buffer.concat([head, tail]).toString("utf8")) as JsonObject;
      const items = Object.keys(document).at(-1) as string;
      delete document[items];
      return { head: cborListHead(document, items, count), tail: NO_TAIL };
    },
    bookmark: (resourceVersion, initialEventsEnd) => cborDocument(json.bookmark(resourceVersion, initialEventsEnd)),
  };
}

const NO_TAIL = Buffer.alloc(0);

/** Kind and form to encode. */
export interface Presented {
  readonly definition: ResourceDefinition;
  /** Form of the metadata. @default unchanged */
  readonly metadata?: MetadataForm | undefined;
  /** Whether list items have `kind` and `apiVersion`. @default not those of Kubernetes' own kinds */
  readonly typedItems?: boolean | undefined;
}

/** Representations of the kinds of a server, each created once. */
export class Representations {
  readonly #made = new WeakMap<ResourceDefinition, Map<string, Representation>>();
  readonly #cuts = new ManagedFieldsCuts();

  /** @throws ApiError 400 on a malformed `includeObject` */
  of(
    { definition, metadata, typedItems = definition.protobuf === undefined }: Presented,
    wanted: Wanted,
    request: { readonly query: URLSearchParams },
  ): Representation {
    const include = wanted.as === "Table" ? includeObject(request.query) : "None";
    const { as = "", drop = false, typed = false } = wanted;
    const isCbor = wanted.format === "cbor";
    const key = `${isCbor} ${as} ${include} ${drop} ${typed} ${typedItems} ${metadata?.name ?? ""}`;
    const made = this.#made.get(definition) ?? new Map<string, Representation>();
    this.#made.set(definition, made);
    let representation = made.get(key);
    if (representation === undefined) {
      if (as === "Table") representation = tableRepresentation(definition, include);
      else if (as !== "") representation = partialRepresentation(metadata, drop);
      else if (drop) representation = droppingRepresentation(jsonRepresentation(definition, typedItems), this.#cuts);
      else if (typed) representation = jsonRepresentation(definition, true, TYPED_ITEMS);
      else representation = jsonRepresentation(definition, typedItems);
      if (isCbor) representation = cborRepresentation(representation);
      made.set(key, representation);
    }
    return representation;
  }
}

/** Format of a response. Watches have no YAML. */
export type AnswerFormat = "json" | "yaml" | "cbor";

/** Negotiated form of a response. */
export interface Wanted {
  readonly format: AnswerFormat;
  /** Transformation of the group meta.k8s.io that `as` requests. */
  readonly as?: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** Whether objects have no `metadata.managedFields`. Tables have them nevertheless, as in Kubernetes. @default false */
  readonly drop?: boolean;
  /** Whether items of a list in JSON have `kind` and `apiVersion` of any kind ({@link TYPED_ITEMS}). @default false */
  readonly typed?: boolean;
}

/** Kind of response, which decides on the available transformations and on YAML (not for streams). */
export type AnswerKind = "object" | "list" | "stream";

const ACCEPTED: Readonly<Record<AnswerKind, readonly string[]>> = {
  object: ["application/json", "application/yaml", "application/cbor"],
  list: ["application/json", "application/yaml", "application/cbor"],
  stream: ["application/json", "application/cbor-seq"],
};
const PLAIN: Wanted = { format: "json" };

/**
 * Parses an `Accept` header as Kubernetes does for custom kinds: clauses with protobuf, an unknown transformation or
 * an unknown field to drop are skipped.
 *
 * @throws ApiError 406 when no clause can be satisfied
 */
export function negotiate(accept: string | undefined, kind: AnswerKind): Wanted {
  if (accept === undefined || accept === "*/*" || accept === "application/json") return PLAIN;
  for (const range of parseAccept(accept)) {
    const wanted = meet(range, kind);
    if (wanted !== undefined) return wanted;
  }
  throw ApiError.notAcceptable(ACCEPTED[kind]);
}

function meet(range: MediaRange, kind: AnswerKind): Wanted | undefined {
  const format = formatOf(range, kind);
  if (format === undefined) return undefined;
  const { as = "", g, v, drop = "", items = "" } = range.parameters;
  if (drop !== "" && drop !== MANAGED_FIELDS) return undefined;
  const wanted: Wanted = drop === "" ? { format } : { format, drop: true };
  const isTyped = items === "typed" && kind === "list" && format === "json" && drop === "";
  if (as === "") return isTyped ? { ...wanted, typed: true } : wanted;
  if (g !== "meta.k8s.io" || v !== "v1") return undefined;
  const partial = kind === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return as === "Table" || as === partial ? { ...wanted, as } : undefined;
}

/** Only supported value of `drop` (KEP-5958). As in Kubernetes, a clause with another value is skipped. */
const MANAGED_FIELDS = "metadata.managedFields";

function formatOf(range: MediaRange, kind: AnswerKind): AnswerFormat | undefined {
  if (accepts(range, "application", "json")) return "json";
  if (accepts(range, "application", "cbor")) return "cbor";
  return kind !== "stream" && accepts(range, "application", "yaml") ? "yaml" : undefined;
}

/** Returns whether a client prefers CBOR, so that it gets errors in CBOR too. */
export function prefersCbor(accept: string | undefined): boolean {
  if (accept?.includes("cbor") !== true) return false;
  const formats = parseAccept(accept).map((range) => formatOf(range, "object"));
  return formats.find((format) => format !== undefined) === "cbor";
}

/** Media range of an `Accept` header. */
export interface MediaRange {
  /** Type in lower case; `*` for any. */
  readonly type: string;
  /** Subtype in lower case; `*` for any. */
  readonly subtype: string;
  /** Parameters without `q`: names in lower case, values unchanged. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

const EVERYTHING: MediaRange = { type: "*", subtype: "*", parameters: {}, quality: 1 };

/**
 * Returns the media ranges of an `Accept` header, best first: by quality, then by specificity, then in their order. Malformed
 * ranges and those with quality 0 are dropped. A missing or empty header accepts everything.
 */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === "") return [EVERYTHING];
  const ranges = header.split(",").map(parseRange);
  return ranges
    .filter((range) => range !== undefined)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || wildness(a) - wildness(b));
}

/** Returns whether a range covers a media type; parameters are ignored. */
export function accepts(range: MediaRange, type: string, subtype: string): boolean {
  if (range.type === "*") return range.subtype === "*";
  return range.type === type && (range.subtype === "*" || range.subtype === subtype);
}

function parseRange(text: string): MediaRange | undefined {
  const [essence = "", ...rest] = text.split(";");
  const [type = "", subtype = "", ...extra] = essence.trim().toLowerCase().split("/");
  if (type === "" || subtype === "" || extra.length > 0) return undefined;
  const parameters: Record<string, string> = Object.create(null);
  let quality = 1;
  for (const one of rest) {
    const equals = one.indexOf("=");
    if (equals < 0) continue;
    const name = one.slice(0, equals).trim().toLowerCase();
    const value = unquote(one.slice(equals + 1).trim());
    if (name === "q") quality = parseQuality(value);
    else parameters[name] = value;
  }
  return { type, subtype, parameters, quality };
}

/** An invalid quality counts as 1, as in Kubernetes. */
function parseQuality(text: string): number {
  const number = Number(text);
  return text !== "" && number >= 0 && number <= 1 ? number : 1;
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function wildness({ type, subtype }: MediaRange): number {
  return (type === "*" ? 2 : 0) + (subtype === "*" ? 1 : 0);
}
