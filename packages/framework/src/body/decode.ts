import { ApiError, type ParsedJson, parseJson } from "@virtual-workspaces/apimachinery";
import { parse } from "yaml";

/** A body, parsed. */
export type DecodedBody = ParsedJson;

export interface DecodeOptions {
  readonly signal: AbortSignal;
}

/** Parses a body by its media type. @throws ApiError 400, 415 */
export async function decodeBody(
  body: Buffer,
  contentType: string | undefined,
  _options: DecodeOptions,
): Promise<DecodedBody> {
  const mediaType = (contentType ?? "application/json").split(";", 1)[0]?.trim();
  const text = body.toString("utf8");
  try {
    if (mediaType === "application/json") return parseJson(text);
    if (mediaType === "application/yaml" || mediaType === "application/apply-patch+yaml")
      return { value: parse(text), duplicates: [] };
  } catch (error) {
    throw ApiError.badRequest((error as Error).message);
  }
  throw ApiError.unsupportedMediaType(["application/json", "application/yaml"]);
}
