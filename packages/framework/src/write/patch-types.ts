import { ApiError } from "@virtual-workspaces/apimachinery";
import { hasPatchStrategy } from "@virtual-workspaces/apimachinery/patch";
import type { ResourceDefinition } from "../definition.ts";

/** How a patch says what it changes. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

/** What patches are sent as. */
export const PATCH_MEDIA_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/**
 * Media types of the patches that a kind takes: strategic ones where its schema says how lists are merged, and of all of
 * Kubernetes' own kinds.
 */
export function patchTypes({ schema, strategy }: ResourceDefinition, applies = true): string[] {
  const { json, merge, strategic, apply } = PATCH_MEDIA_TYPES;
  return [
    json,
    merge,
    ...(strategy !== undefined || hasPatchStrategy(schema) ? [strategic] : []),
    ...(applies ? [apply] : []),
  ];
}

/** In lower case only, as in Kubernetes. @throws ApiError 415 on one that the kind does not take */
export function patchTypeOf(
  contentType: string | undefined,
  definition: ResourceDefinition,
  applies?: boolean,
): PatchType {
  const mediaType = (contentType ?? "").split(";", 1)[0]?.trim();
  const accepted = patchTypes(definition, applies);
  const found = (Object.keys(PATCH_MEDIA_TYPES) as PatchType[]).find((type) => PATCH_MEDIA_TYPES[type] === mediaType);
  if (found === undefined || !accepted.includes(PATCH_MEDIA_TYPES[found]))
    throw ApiError.unsupportedMediaType(accepted);
  return found;
}
