import { isComputed, type JsonSchema } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { CustomResourceDefinitionLike, CustomResourceVersion } from "./custom-resource-definition.ts";

/**
 * The CustomResourceDefinition of a kind that was defined in code, as others would have to write it: what is beyond one, as
 * columns that a function fills, is left out.
 */
export function definitionOf(kind: ResourceDefinition): CustomResourceDefinitionLike {
  const { group, plural, singular, listKind, shortNames, categories, scope, version } = kind;
  return {
    metadata: { name: `${plural}.${group === "" ? "core" : group}` },
    spec: {
      group,
      names: {
        kind: kind.kind,
        listKind,
        plural,
        singular,
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      scope,
      versions: [{ name: version, served: true, storage: true, ...describedVersion(kind) }],
    },
  };
}

type Described = Omit<CustomResourceVersion, "name" | "served" | "storage">;

function describedVersion({ schema, columns, selectableFields, subresources }: ResourceDefinition): Described {
  const { status, scale } = subresources;
  const paths = columns.flatMap((column) => {
    const { advertisedType: _told, ...path } = column;
    return isComputed(column) ? [] : [path];
  });
  return {
    schema: { openAPIV3Schema: wholeSchema(schema) },
    ...(paths.length > 0 && { additionalPrinterColumns: paths }),
    ...(selectableFields.length > 0 && {
      selectableFields: selectableFields.map(({ name }) => ({ jsonPath: `.${name}` })),
    }),
    ...((status || scale) && { subresources: { ...(status && { status: {} }), ...(scale && { scale }) } }),
  } as Described;
}

/** With what every object has, which schemas of definitions say themselves. */
function wholeSchema(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema;
  const text = { type: "string" } as const;
  return {
    ...schema,
    properties: { apiVersion: text, kind: text, ...properties, metadata: properties["metadata"] ?? { type: "object" } },
  };
}
