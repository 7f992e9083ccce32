// CustomResourceDefinition of one of our kinds.
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { isComputed, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { Resource } from "@virtual-workspaces/framework";
import type { DifferentialKind } from "./kinds/kind.ts";

/** Returns it for `kubectl apply`; the first version is the stored one. */
export function crdOf(versions: DifferentialKind): object {
  const [{ group, kind, listKind, plural, singular, scope, shortNames, categories }] = versions;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, listKind, plural, singular, shortNames, categories },
      versions: versions.map((version, at) => ({ ...versionOf(version), storage: at === 0 })),
    },
  };
}

function versionOf({ version, schema, columns, selectableFields, subresources }: Resource): object {
  const { status, scale } = subresources;
  return {
    name: version,
    served: true,
    schema: { openAPIV3Schema: wholeSchema(schema) },
    additionalPrinterColumns: columns.map(columnOf),
    selectableFields: selectableFields.map(({ name }) => ({ jsonPath: `.${name}` })),
    subresources: { ...(status ? { status: {} } : {}), ...(scale === undefined ? {} : { scale }) },
  };
}

/** Adds the fields that every object has, which a definition may not restrict. */
function wholeSchema(schema: JsonSchema): JsonSchema {
  const own = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } } as const;
  return { ...schema, properties: { ...own, ...schema.properties } };
}

function columnOf(column: TableColumn): object {
  if (isComputed(column)) throw new Error(`column ${column.name}: a definition has no functions`);
  const { name, type, format, description, priority, jsonPath } = column;
  return { name, type, format, description, priority, jsonPath };
}
