import { ApiError, apiVersionOf, type JsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { type KindVersions, perVersions, type ResourceDefinition } from "../definition.ts";
import type { FieldOwners } from "./write-rules.ts";

/** Who owns which fields of a kind's objects, also those that were written in another of its versions. */
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
 * How many fields and elements an object may have for their owners to be tracked: some 40 ms. Kubernetes drops the owners
 * of objects that are too large for it as well.
 */
const TRACKED = 7_500;
/** And how many all owners together may have in their entries, since several may own the same. */
const OWNED = 2 * TRACKED;

function isTracked(object: KubeObject): boolean {
  const owned = object.metadata?.managedFields; // an apply may come without metadata
  return count(owned, OWNED) <= OWNED && count(untracked(object), TRACKED) <= TRACKED;
}

/** How many members and elements a value has with all below it; no further than just above `most`. */
function count(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  // Names alone: of very many members, their values take three times as long.
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
  const { schema, kind, subresources } = definition;
  const apiVersion = apiVersionOf(definition);
  return new FieldManager({
    apiVersion,
    kind,
    schema,
    ignored: {
      ...(subresources.status ? { "": [["status"]] } : {}),
      status: [["metadata"], ["spec"]],
    },
    ...(versions === undefined
      ? {}
      : {
          versions: versions.schemasBeside(apiVersion),
          convert: (object, to) => versions.convert(object, to),
        }),
  });
}
