import { apiVersionOf, FieldManager } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { KindVersions } from "./kind-versions.ts";
import type { FieldOwners } from "./rules.ts";

/** Who owns which fields of a kind's objects, also those that were written in another of its versions. */
export function fieldOwners(definition: ResourceDefinition, versions?: KindVersions): FieldOwners {
  let manager: FieldManager | undefined;
  let known = 0;
  const current = (): FieldManager => {
    const size = versions?.size ?? 0;
    // Versions may be added once the kind is served already.
    if (manager === undefined || known !== size) manager = fieldManager(definition, versions);
    known = size;
    return manager;
  };
  return { update: (change) => current().update(change), apply: (change) => current().apply(change) };
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
