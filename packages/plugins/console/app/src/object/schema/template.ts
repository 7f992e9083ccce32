import { texts } from "../../texts.ts";
import { yamlOf } from "../yaml/object-text.ts";
import type { Bounds, FieldSchema } from "./schema.ts";

interface Template {
  readonly apiVersion: string;
  readonly kind: string;
  /** False for kinds that the server answers and does not store. */
  readonly isStored: boolean;
  /** Undefined for cluster-scoped kinds. */
  readonly namespace: string | undefined;
  readonly schema: FieldSchema | undefined;
}

/** Required fields in required fields: no deeper than this, since schemas may contain themselves. */
const DEPTH = 8;

/** YAML to begin a new object with: its required fields, and an empty `spec` for kinds that have one. */
export function templateOf({ apiVersion, kind, isStored, namespace, schema }: Template): string {
  const metadata = { ...(isStored && { name: "" }), ...(namespace !== undefined && { namespace }) };
  const object: Record<string, unknown> = { apiVersion, kind, metadata };
  for (const name of schema?.required ?? [])
    if (!(name in object) && name !== "status") object[name] = beginningOf(schema?.field(name), 1);
  for (const name of ["spec", "data"])
    if (schema?.names.includes(name) === true && !(name in object)) object[name] = {};
  return `# ${texts.object.create.hint}\n${yamlOf(object)}`;
}

/** 0, or the number next to it within the limits. */
function numberWithin({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Bounds): number {
  if (minimum !== undefined && (minimum > 0 || (minimum === 0 && exclusiveMinimum === true)))
    return exclusiveMinimum === true ? minimum + 1 : minimum;
  if (maximum !== undefined && (maximum < 0 || (maximum === 0 && exclusiveMaximum === true)))
    return exclusiveMaximum === true ? maximum - 1 : maximum;
  return 0;
}

function beginningOf(schema: FieldSchema | undefined, depth: number): unknown {
  if (schema === undefined || depth > DEPTH) return {};
  if (schema.default !== undefined) return schema.default;
  const [first] = schema.values;
  if (first !== undefined) return first;
  switch (schema.type) {
    case "string":
      return "";
    case "integer":
    case "number":
    case "int-or-string":
      return numberWithin(schema.bounds);
    case "boolean":
      return false;
    case "array":
      return schema.item === undefined || schema.item.required.length === 0
        ? []
        : [beginningOf(schema.item, depth + 1)];
    default:
      return Object.fromEntries(schema.required.map((name) => [name, beginningOf(schema.field(name), depth + 1)]));
  }
}
