// The shape of a kind as lines of text: its names, columns, and all fields with their schema except descriptions. Two kinds with
// the same shape accept and reject the same objects.
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { TableColumn } from "@virtual-workspaces/apimachinery/tables";

/** Kind in one version. */
export interface Shaped {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: { readonly status: boolean; readonly scale?: unknown };
  readonly columns: readonly TableColumn[];
  readonly schema: JsonSchema;
}

/** Returns the name of a shape: `workspaces.v1alpha1.tenancy.kcp.io`. */
export function shapeName({ plural, version, group }: Shaped): string {
  return `${plural}.${version}.${group}`;
}

/** Returns the shape, one fact a line. */
export function shapeOf(kind: Shaped): string {
  const { status, scale } = kind.subresources;
  const names = [
    `kind ${kind.kind} list ${kind.listKind} singular ${kind.singular} scope ${kind.scope}`,
    `shortNames ${JSON.stringify(kind.shortNames)} categories ${JSON.stringify(kind.categories)}`,
    `subresources ${JSON.stringify({ ...(status && { status: {} }), ...(scale !== undefined && { scale }) })}`,
  ];
  const columns = kind.columns.map(({ name, type, format = "", priority = 0, ...column }) =>
    [
      `column ${JSON.stringify(name)} ${type} ${"jsonPath" in column ? column.jsonPath : "computed"}`,
      ...(format === "" ? [] : [`format ${format}`]),
      ...(priority === 0 ? [] : [`priority ${priority}`]),
    ].join(" "),
  );
  return `${[...names, ...columns, ...fields(rootOf(kind.schema), ".")].join("\n")}\n`;
}

/** Every object has a type and metadata, so only the rules for names count. */
function rootOf(schema: JsonSchema): JsonSchema {
  const { apiVersion, kind, metadata, ...properties } = schema.properties ?? {};
  const required = schema.required?.filter((name) => Object.hasOwn(properties, name)) ?? [];
  const { required: _, ...rest } = schema;
  const named = metadata?.properties === undefined ? properties : { metadata, ...properties };
  return { ...rest, ...(required.length > 0 && { required }), properties: named };
}

function* fields(schema: JsonSchema, path: string): Generator<string> {
  yield `${path} ${facts(schema)}`.trim();
  const { properties = {}, items, additionalProperties } = schema;
  for (const name of Object.keys(properties).sort())
    yield* fields(properties[name] ?? {}, path === "." ? `.${name}` : `${path}.${name}`);
  if (items !== undefined) yield* fields(items, `${path}[]`);
  if (typeof additionalProperties === "object") yield* fields(additionalProperties, `${path}{}`);
}

const BELOW = new Set(["type", "properties", "items", "description", "x-kubernetes-validations"]);

/** Returns the type, keywords by name and rules of a field, without those of its children. */
function facts(schema: JsonSchema): string {
  const said = Object.entries(schema)
    .filter(
      ([keyword, value]) => !BELOW.has(keyword) && (keyword !== "additionalProperties" || typeof value === "boolean"),
    )
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([keyword, value]) => `${keyword}=${JSON.stringify(keyword === "required" ? [...value].sort() : value)}`);
  const rules = (schema["x-kubernetes-validations"] ?? []).map(
    ({ rule, message, ...more }) =>
      `\n  rule ${rule}\n  says ${message}${Object.keys(more).length > 0 ? ` ${JSON.stringify(more)}` : ""}`,
  );
  return [schema.type ?? "", ...said].join(" ") + rules.join("");
}
