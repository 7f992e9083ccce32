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

/** The annotation that tells which version of its source an object of a view was made from. */
export const SOURCE_VERSION_ANNOTATION = "virtual-workspaces.dev/source-version";

/** The source version that an object of a view was made from. */
export function sourceVersionOf({ annotations }: ObjectMeta): string | undefined {
  return annotations?.[SOURCE_VERSION_ANNOTATION];
}

const OWNERS_DOMAIN = "managed-fields.virtual-workspaces.dev";
/** What a name behind the domain may be long. */
const LONGEST_NAME = 63;

const APPLIED_DOMAIN = "last-applied.virtual-workspaces.dev";

/** The annotations in which a source keeps what clients have said of the object as a view shows it. */
export interface KeptAnnotations {
  /** Who owns which fields of the view's kind. */
  readonly owners: string;
  /** What `kubectl apply` applied last through the view: its {@link LAST_APPLIED}. */
  readonly applied: string;
}

/** What a source keeps on behalf of views that show a kind. */
export function keptAnnotations(definition: ResourceDefinition): KeptAnnotations {
  const { group, resource } = groupResourceOf(definition);
  const name = group === "" ? resource : `${resource}.${group}`;
  const short = name.length <= LONGEST_NAME ? name : createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { owners: `${OWNERS_DOMAIN}/${short}`, applied: `${APPLIED_DOMAIN}/${short}` };
}

/** Where client-side `kubectl apply` keeps the whole of what it applied last, fields that a view hides included. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Whether an annotation is such a one, of whichever kind. */
export function isKeptAnnotation(key: string): boolean {
  return key.startsWith(`${OWNERS_DOMAIN}/`) || key.startsWith(`${APPLIED_DOMAIN}/`);
}

/** What owners may take of a source's annotations, characters: Kubernetes allows 256 KiB for all of these. */
const LONGEST_OWNERS = 64 * 1024;

/** Reads the owners of fields. What somebody has spoilt counts as nobody's, as in Kubernetes. */
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
 * Writes the owners of fields, `undefined` for nobody. Of too many those are kept that apply: they need it.
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
