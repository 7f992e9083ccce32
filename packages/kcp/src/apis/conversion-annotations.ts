import {
  ApiError,
  fieldInvalid,
  type GroupKind,
  isJsonObject,
  type JsonObject,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import { goJson } from "../names/hashes.ts";

/**
 * Annotations of v1alpha1 objects that hold, as JSON, the settings that only v1alpha2 can express. A client that writes the
 * v1alpha1 object without them loses these settings.
 */
export const NEWER_ANNOTATIONS = Object.freeze({
  /** On an APIExport: resources that `latestResourceSchemas` cannot express. */
  resourceSchemas: "apis.v1alpha2.kcp.io/resource-schemas",
  /** On an APIExport: claims with other verbs than `*`, or with a default selector. */
  permissionClaims: "apis.v1alpha2.kcp.io/permission-claims",
  /** On an APIBinding: claims with other verbs than `*`, or with another selector than `matchAll`. */
  acceptableClaims: "apis.v1alpha2.kcp.io/acceptable-permission-claims",
  /** On an APIBinding: such claims of `status.exportPermissionClaims`. */
  exportClaims: "apis.v1alpha2.kcp.io/status-export-permission-claims",
  /** On an APIBinding: such claims of `status.appliedPermissionClaims`. */
  appliedClaims: "apis.v1alpha2.kcp.io/status-applied-permission-claims",
});

/** Annotations of objects in v1alpha2, the storage version, that hold, as JSON, the settings that only v1alpha1 can express. */
export const OLDER_ANNOTATIONS = Object.freeze({
  /** Claims with `all` or `resourceSelector`. */
  permissionClaims: "apis.v1alpha2.kcp.io/v1alpha1-permission-claims",
  /** On an APIBinding: such claims of `status.exportPermissionClaims`. */
  exportClaims: "apis.v1alpha2.kcp.io/v1alpha1-status-export-permission-claims",
  /** On an APIBinding: such claims of `status.appliedPermissionClaims`. */
  appliedClaims: "apis.v1alpha2.kcp.io/v1alpha1-status-applied-permission-claims",
});

const OWN: ReadonlySet<string> = new Set([...Object.values(NEWER_ANNOTATIONS), ...Object.values(OLDER_ANNOTATIONS)]);

/**
 * Returns the annotations of a converted object: the author's, and the settings that the new version cannot express. Annotations
 * with our names that a client added are dropped, so that they have no effect when the object is converted back.
 */
export function annotationsWith(
  { annotations = {} }: ObjectMeta,
  aside: Readonly<Record<string, readonly object[]>>,
): Record<string, string> {
  const kept = Object.entries(annotations).filter(([name]) => !OWN.has(name));
  const added = Object.entries(aside).filter(([, items]) => items.length > 0);
  return Object.fromEntries([...kept, ...added.map(([name, items]): [string, string] => [name, goJson(items)])]);
}

/** Returns the content of an annotation that the server wrote. Unreadable content counts as empty, since a read must never fail. */
export function remembered(metadata: ObjectMeta, name: string): JsonObject[] {
  return itemsOf(metadata.annotations?.[name]) ?? [];
}

/**
 * Returns the content of an annotation that a client sent back.
 *
 * @throws ApiError 422 on unreadable content: without it, the claims would have no limits
 */
export function sentBack(object: { readonly metadata: ObjectMeta }, kind: GroupKind, name: string): JsonObject[] {
  const { metadata } = object;
  const text = metadata.annotations?.[name];
  const items = itemsOf(text);
  if (text === undefined || items !== undefined) return items ?? [];
  const detail =
    "must be the JSON list that was read: send it back unchanged, or remove the annotation to drop its settings";
  throw ApiError.invalid({
    kind,
    name: metadata.name ?? "",
    causes: [fieldInvalid(`metadata.annotations[${name}]`, text, detail)],
  });
}

function itemsOf(text: string | undefined): JsonObject[] | undefined {
  if (text === undefined) return undefined;
  try {
    const items: unknown = JSON.parse(text);
    return Array.isArray(items) && items.every(isJsonObject) ? items : undefined;
  } catch {
    return undefined;
  }
}
