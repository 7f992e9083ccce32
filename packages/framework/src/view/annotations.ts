import { createHash } from "node:crypto";
import {
  ApiError,
  isApiError,
  type ManagedFieldsEntry,
  normalizeMetadata,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import { parseFieldsV1 } from "@virtual-workspaces/apimachinery/apply";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";

/** Annotation with the version of the source object from which an object of a view was made. */
export const SOURCE_VERSION_ANNOTATION = "virtual-workspaces.dev/source-version";

/** Returns the version of the source object from which an object of a view was made. */
export function sourceVersionOf({ annotations }: ObjectMeta): string | undefined {
  return annotations?.[SOURCE_VERSION_ANNOTATION];
}

const OWNERS_DOMAIN = "managed-fields.virtual-workspaces.dev";
/** Maximum length of an annotation's name after its domain. */
const LONGEST_NAME = 63;

const APPLIED_DOMAIN = "last-applied.virtual-workspaces.dev";

/** Names of the annotations in which a source keeps what clients wrote through a view. */
export interface KeptAnnotations {
  /** Owners of the fields of the view's kind. */
  readonly owners: string;
  /** Configuration that `kubectl apply` applied last through the view: its {@link LAST_APPLIED}. */
  readonly applied: string;
}

/** Returns the annotations that a source keeps for views that show a kind. */
export function keptAnnotations(definition: ResourceDefinition): KeptAnnotations {
  const { group, resource } = groupResourceOf(definition);
  const name = group === "" ? resource : `${resource}.${group}`;
  const short = name.length <= LONGEST_NAME ? name : createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { owners: `${OWNERS_DOMAIN}/${short}`, applied: `${APPLIED_DOMAIN}/${short}` };
}

/** Annotation in which client-side `kubectl apply` keeps all that it applied last, also fields that a view hides. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Whether an annotation is one of {@link KeptAnnotations}, for any kind. */
export function isKeptAnnotation(key: string): boolean {
  return key.startsWith(`${OWNERS_DOMAIN}/`) || key.startsWith(`${APPLIED_DOMAIN}/`);
}

/** Maximum length of the owners in a source's annotations, in characters: Kubernetes allows 256 KiB for all annotations. */
const LONGEST_OWNERS = 64 * 1024;

/** Parses the owners of fields. Malformed text counts as no owners, as in Kubernetes. */
export function readOwners(text: string | undefined): ManagedFieldsEntry[] | undefined {
  if (text === undefined || text.length > LONGEST_OWNERS) return undefined;
  try {
    const object = { metadata: { managedFields: JSON.parse(text) as ManagedFieldsEntry[] } };
    normalizeMetadata(object);
    const { managedFields = [] } = object.metadata;
    return managedFields.length > 0 && managedFields.every(isEntry) ? managedFields : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isApiError(error)) return undefined;
    throw error;
  }
}

/** @throws SyntaxError on a malformed set of fields */
function isEntry({ operation, apiVersion, fieldsType, fieldsV1 = {} }: ManagedFieldsEntry): boolean {
  parseFieldsV1(fieldsV1);
  return (operation === "Apply" || operation === "Update") && apiVersion !== undefined && fieldsType === "FieldsV1";
}

/**
 * Encodes the owners of fields; `undefined` when there are none. If the text is too long, keeps only those of applies, which
 * need them.
 *
 * @throws ApiError 413 when even those are too many
 */
export function writeOwners(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  if (entries === undefined || entries.length === 0) return undefined;
  const text = JSON.stringify(entries);
  if (text.length <= LONGEST_OWNERS) return text;
  const applied = JSON.stringify(entries.filter(({ operation }) => operation === "Apply"));
  if (applied.length <= LONGEST_OWNERS) return applied;
  throw ApiError.requestEntityTooLarge(`metadata.managedFields: limit is ${LONGEST_OWNERS} bytes in this view`);
}
