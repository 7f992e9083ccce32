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
 * Annotations of objects in v1alpha1 that hold what only v1alpha2 can say, as JSON. Whoever writes the object in v1alpha1
 * without them gives it up.
 */
export const NEWER_ANNOTATIONS = Object.freeze({
  /** Of an APIExport: resources that `latestResourceSchemas` does not say. */
  resourceSchemas: "apis.v1alpha2.kcp.io/resource-schemas",
  /** Of an APIExport: claims with other verbs than `*` or a default selector. */
  permissionClaims: "apis.v1alpha2.kcp.io/permission-claims",
  /** Of an APIBinding: claims with other verbs than `*` or another selector than `matchAll`. */
  acceptableClaims: "apis.v1alpha2.kcp.io/acceptable-permission-claims",
  /** Of an APIBinding: the same of `status.exportPermissionClaims`. */
  exportClaims: "apis.v1alpha2.kcp.io/status-export-permission-claims",
  /** Of an APIBinding: the same of `status.appliedPermissionClaims`. */
  appliedClaims: "apis.v1alpha2.kcp.io/status-applied-permission-claims",
});

/** Annotations of objects in v1alpha2, the version that is kept, that hold what only v1alpha1 can say, as JSON. */
export const OLDER_ANNOTATIONS = Object.freeze({
  /** Claims with `all` or `resourceSelector`. */
  permissionClaims: "apis.v1alpha2.kcp.io/v1alpha1-permission-claims",
  /** Of an APIBinding: the same of `status.exportPermissionClaims`. */
  exportClaims: "apis.v1alpha2.kcp.io/v1alpha1-status-export-permission-claims",
  /** Of an APIBinding: the same of `status.appliedPermissionClaims`. */
  appliedClaims: "apis.v1alpha2.kcp.io/v1alpha1-status-applied-permission-claims",
});

const OWN: ReadonlySet<string> = new Set([...Object.values(NEWER_ANNOTATIONS), ...Object.values(OLDER_ANNOTATIONS)]);

/**
 * The annotations of a converted object: those that are nobody's but the author's, and what the new version cannot say.
 * What a client planted under our names goes, so that it never becomes something else on the way back.
 */
export function annotationsWith(
  { annotations = {} }: ObjectMeta,
  aside: Readonly<Record<string, readonly object[]>>,
): Record<string, string> {
  const kept = Object.entries(annotations).filter(([name]) => !OWN.has(name));
  const added = Object.entries(aside).filter(([, items]) => items.length > 0);
  return Object.fromEntries([...kept, ...added.map(([name, items]): [string, string] => [name, goJson(items)])]);
}

/** What an annotation holds that we wrote; nothing if it is not readable, since objects can always be read. */
export function remembered(metadata: ObjectMeta, name: string): JsonObject[] {
  return itemsOf(metadata.annotations?.[name]) ?? [];
}

/**
 * What an annotation holds that a client sent back.
 *
 * @throws ApiError 422 if it cannot be read: what it limits would be without limits
 */
export function sentBack(object: { readonly metadata: ObjectMeta }, kind: GroupKind, name: string): JsonObject[] {
  const { metadata } = object;
  const text = metadata.annotations?.[name];
  const items = itemsOf(text);
  if (text === undefined || items !== undefined) return items ?? [];
  const detail = "must be the JSON list that was read: send it back unchanged, or leave it out to give up what it says";
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
