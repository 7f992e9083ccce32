import { ApiError } from "@virtual-workspaces/apimachinery";

/** What a client wants its answer to be. */
export interface Wanted {
  readonly format: "json" | "yaml";
  /** The transformation asked for by `as`, of the group meta.k8s.io. */
  readonly as?: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
}

/** What kind of answer is due: it decides which transformations exist and whether YAML can be had (not as a stream). */
export type AnswerKind = "object" | "list" | "stream";

const ACCEPTED: Readonly<Record<AnswerKind, readonly string[]>> = {
  object: ["application/json", "application/yaml"],
  list: ["application/json", "application/yaml"],
  stream: ["application/json"],
};
const PLAIN: Wanted = { format: "json" };

/**
 * Reads an `Accept` header as Kubernetes does for custom kinds: a clause that asks for protobuf, CBOR or an unknown
 * transformation is passed over for the next.
 *
 * @throws ApiError 406 when no clause can be met.
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
  const { as = "", g, v } = range.parameters;
  if (as === "") return { format };
  if (g !== "meta.k8s.io" || v !== "v1") return undefined;
  const partial = kind === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return as === "Table" || as === partial ? { format, as } : undefined;
}

function formatOf(range: MediaRange, kind: AnswerKind): Wanted["format"] | undefined {
  if (accepts(range, "application", "json")) return "json";
  return kind !== "stream" && accepts(range, "application", "yaml") ? "yaml" : undefined;
}

/** One media range of an `Accept` header. */
export interface MediaRange {
  /** Lower case; `*` for any. */
  readonly type: string;
  /** Lower case; `*` for any. */
  readonly subtype: string;
  /** Names in lower case, values as they came, without `q`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

const EVERYTHING: MediaRange = { type: "*", subtype: "*", parameters: {}, quality: 1 };

/**
 * The media ranges of an `Accept` header, best first: by quality, then the more specific, then as they came. Ranges
 * of quality 0 and malformed ones are left out. No header, or an empty one, accepts everything.
 */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === "") return [EVERYTHING];
  const ranges = header.split(",").map(parseRange);
  return ranges
    .filter((range) => range !== undefined)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || wildness(a) - wildness(b));
}

/** Whether a range covers a media type, whatever its parameters. */
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

/** A quality that is no number counts as 1, as in Kubernetes. */
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
