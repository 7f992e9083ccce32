import type { GroupVersionKind } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../../definition.ts";
import { metaName, ref, TYPE_META } from "./meta-object-schemas.ts";
import { type Components, mapSchema, type Schema } from "./schema.ts";

const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

const STANDARD = {
  ...TYPE_META,
  metadata: ref(
    metaName("ObjectMeta"),
    `Standard metadata of the object: its name, labels, owners. More info: ${CONVENTIONS}#metadata`,
  ),
} as const;

/**
 * Returns the component name of a kind: reversed group, version and kind, as apiextensions names custom kinds. Groups without
 * a dot are Kubernetes' own and keep Kubernetes' names.
 */
export function kindName({ group, version, kind }: GroupVersionKind): string {
  const own = !group.includes(".");
  const prefix = own ? `io.k8s.api.${group || "core"}` : group.split(".").reverse().join(".");
  return `${prefix}.${version}.${kind}`;
}

/** Returns the components of the kind and its list. If a kind has two definitions, the first counts. */
export function kindComponents(definitions: readonly ResourceDefinition[]): Components {
  const components: Record<string, Schema> = {};
  for (const definition of definitions) {
    components[kindName(definition)] ??= kindSchema(definition);
    components[kindName(listOf(definition))] ??= listSchema(definition);
  }
  return components;
}

/** Returns the group, version and kind of a kind's list. */
export function listOf({ group, version, listKind }: ResourceDefinition): GroupVersionKind {
  return { group, version, kind: listKind };
}

function kindSchema(definition: ResourceDefinition): Schema {
  const own = mapSchema(definition.schema as Schema, embeddedResource);
  return {
    ...own,
    type: "object",
    properties: { ...STANDARD, ...own.properties, ...STANDARD },
    ...identity(definition, definition),
  };
}

function listSchema(definition: ResourceDefinition): Schema {
  const { kind, listKind, plural } = definition;
  return {
    type: "object",
    description: `${listKind} is a list of ${kind}`,
    required: ["items"],
    properties: {
      ...TYPE_META,
      items: {
        type: "array",
        items: { $ref: kindName(definition) },
        description: `List of ${plural}. More info: ${CONVENTIONS}`,
      },
      metadata: ref(metaName("ListMeta"), `Standard metadata of a list. More info: ${CONVENTIONS}#types-kinds`),
    },
    ...identity(definition, listOf(definition)),
  };
}

function identity(definition: ResourceDefinition, { group, version, kind }: GroupVersionKind): Schema {
  const fields = definition.selectableFields.map(({ name }) => ({ fieldPath: name }));
  return {
    "x-kubernetes-group-version-kind": [{ group, kind, version }],
    ...(fields.length > 0 && { "x-kubernetes-selectable-fields": fields }),
  };
}

/** A field that embeds a whole object has the properties of every object. */
function embeddedResource(schema: Schema): Schema {
  if (schema["x-kubernetes-embedded-resource"] !== true) return schema;
  return {
    ...schema,
    required: [...new Set([...(schema.required ?? []), "apiVersion", "kind"])],
    properties: { ...STANDARD, ...schema.properties, ...STANDARD },
  };
}
