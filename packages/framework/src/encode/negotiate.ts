import { ApiError } from "@virtual-workspaces/apimachinery";
import { accepts, type MediaRange, parseAccept } from "./accept.ts";

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
