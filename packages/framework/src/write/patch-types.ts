import { ApiError } from "@virtual-workspaces/apimachinery";
import { hasPatchStrategy } from "@virtual-workspaces/apimachinery/patch";
import type { ResourceDefinition } from "../definition.ts";

/** Format of a patch. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

/** Media type of each patch format. */
export const PATCH_MEDIA_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Media type of applies in CBOR, which every kind that takes applies accepts. */
export const APPLY_CBOR = "application/apply-patch+cbor";

/** Groups of Kubernetes' typed clients, which send strategic merge patches (`k8s.io/client-go/kubernetes/scheme`). */
const TYPED =
  /^(?:|apps|autoscaling|batch|extensions|policy|(?:admissionregistration|authentication|authorization|certificates|coordination|discovery|events|flowcontrol\.apiserver|internal\.apiserver|networking|node|rbac\.authorization|resource|scheduling|storage|storagemigration)\.k8s\.io)$/;

/**
 * Returns the media types of the patches that a kind accepts. Strategic merge patches need merge rules in the schema, or one
 * of Kubernetes' own groups. As in kcp, a custom kind in such a group replaces lists whole.
 */
export function patchTypes({ group, kind, schema, strategy, protobuf }: ResourceDefinition, applies = true): string[] {
  const { json, merge, strategic, apply } = PATCH_MEDIA_TYPES;
  // A Scale is part of a kind of any group.
  const isTyped = TYPED.test(group) && kind !== "Scale";
  const isStrategic = strategy !== undefined || protobuf !== undefined || isTyped || hasPatchStrategy(schema);
  return [json, merge, ...(isStrategic ? [strategic] : []), ...(applies ? [apply] : [])];
}

/** Returns the format for a media type, in lower case only, as in Kubernetes. @throws ApiError 415 if the kind does not accept it */
export function patchTypeOf(
  contentType: string | undefined,
  definition: ResourceDefinition,
  applies?: boolean,
): PatchType {
  const mediaType = (contentType ?? "").split(";", 1)[0]?.trim();
  const accepted = patchTypes(definition, applies);
  if (mediaType === APPLY_CBOR && accepted.includes(PATCH_MEDIA_TYPES.apply)) return "apply";
  const found = (Object.keys(PATCH_MEDIA_TYPES) as PatchType[]).find((type) => PATCH_MEDIA_TYPES[type] === mediaType);
  if (found === undefined || !accepted.includes(PATCH_MEDIA_TYPES[found]))
    throw ApiError.unsupportedMediaType(accepted);
  return found;
}
