import { ApiError, apiVersionOf, type JsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { type KindVersions, perVersions, type ResourceDefinition } from "../definition.ts";
import type { FieldOwners } from "./write-rules.ts";

/** Returns the manager of field owners for a kind, including owners from its other versions. */
export function fieldOwners(definition: ResourceDefinition, versions?: KindVersions): FieldOwners {
  const current = perVersions(versions, () => fieldManager(definition, versions));
  return {
    update: (change) => (isTracked(change.next) ? current().update(change) : untracked(change.next)),
    apply: (change) => {
      if (isTracked(change.config) && (change.live === undefined || isTracked(change.live)))
        return current().apply(change);
      throw ApiError.requestEntityTooLarge(
        `the object has more than ${TRACKED} fields, or its owners more than ${OWNED}, too many for server-side apply: update it, or apply less`,
      );
    },
  };
}

/**
 * Maximum number of fields and elements of an object whose owners are tracked, which takes about 40 ms. Kubernetes also drops
 * the owners of objects that are too large.
 */
const TRACKED = 7_500;
/** Maximum number of fields in the entries of all owners, since several may own the same one. */
const OWNED = 2 * TRACKED;

function isTracked(object: KubeObject): boolean {
  const owned = object.metadata?.managedFields; // an applied object may lack metadata
  return count(owned, OWNED) <= OWNED && count(untracked(object), TRACKED) <= TRACKED;
}

/** Counts the members and elements of a value at all levels, and stops just above `most`. */
function count(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  // Only names: reading the values of very many members takes three times as long.
  const parts = Array.isArray(value) ? value : Object.keys(value);
  let found = parts.length;
  for (const part of parts) {
    if (found > most) break;
    found += count(parts === value ? part : (value as JsonObject)[part], most - found);
  }
  return found;
}

function untracked(object: KubeObject): KubeObject {
  const { managedFields: _fields, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

function fieldManager(definition: ResourceDefinition, versions: KindVersions | undefined): FieldManager {
  const { schema, kind, subresources, strategy } = definition;
  const apiVersion = apiVersionOf(definition);
  const reset = (part: string): readonly (readonly string[])[] => strategy?.resetFields?.[part] ?? [];
  const statusParts = ["status", ...(subresources.statusParts ?? [])];
  return new FieldManager({
    apiVersion,
    kind,
    schema,
    ignored: {
      "": [...(subresources.status ? [["status"]] : []), ...reset("")],
      ...Object.fromEntries(statusParts.map((part) => [part, [["metadata"], ["spec"], ...reset(part)]])),
    },
    ...(versions === undefined
      ? {}
      : {
          versions: versions.schemasBeside(apiVersion),
          convert: (object, to) => versions.convert(object, to),
        }),
  });
}
