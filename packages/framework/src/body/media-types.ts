import { ApiError } from "@virtual-workspaces/apimachinery";

/** What objects and options are sent as. Kubernetes takes protobuf too for its own kinds, and CBOR where it is enabled. */
export const OBJECT_MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** A media type without its parameters, of those that are accepted; none is JSON, where that is accepted. @throws ApiError 415 */
export function mediaTypeOf(contentType: string | undefined, accepted: readonly string[]): string {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const named = type === "" ? "application/json" : type;
  if (!accepted.includes(named)) throw ApiError.unsupportedMediaType(accepted);
  return named;
}

export const isYaml = (mediaType: string): boolean => /[/+]yaml$/.test(mediaType);
export const isPatch = (mediaType: string): boolean => mediaType.includes("-patch+");
