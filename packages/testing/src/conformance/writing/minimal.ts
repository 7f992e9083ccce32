import { at, fieldsAt, isObject, type JsonObject, listAt } from "../json.ts";
import { followed } from "../openapi.ts";
import { numberOr, textsOf } from "./texts.ts";

/** Kinds may contain themselves. */
const DEEPEST = 24;
/** Nobody asks for more of anything, and a schema might ask for very many. */
const MOST = 16;

/** What a schema asks for cannot be told. */
export class Unmakeable extends Error {
  override readonly name = "Unmakeable";
}

/**
 * The least that a schema lets through: what is required and nothing else. What rules written in CEL ask for is not seen.
 *
 * @throws Unmakeable when there is nothing that it is known to let through
 */
export function minimal(document: JsonObject, schema: unknown, path = ""): unknown {
  if (path.split(/[.[]/).length > DEEPEST) throw new Unmakeable(`${path} is nested too deep`);
  const own = followed(document, schema);
  if (!isObject(own)) throw new Unmakeable(`${path || "the schema"} leads nowhere`);
  if (own["default"] !== undefined) return own["default"];
  const [first] = listAt(own, "enum");
  if (first !== undefined) return first;
  if (own["x-kubernetes-int-or-string"] === true) return 1;
  if (own["x-kubernetes-embedded-resource"] === true)
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "embedded" } };
  switch (typeOf(own)) {
    case "object":
      return objectOf(document, own, path);
    case "array":
      return arrayOf(document, own, path);
    case "string":
      return textOf(own, path);
    case "integer":
    case "number":
      return numberOf(own);
    case "boolean":
      return false;
    default:
      return {};
  }
}

function typeOf(schema: JsonObject): unknown {
  return schema["type"] ?? (isObject(schema["properties"]) ? "object" : undefined);
}

function objectOf(document: JsonObject, schema: JsonObject, path: string): JsonObject {
  const fields: Record<string, unknown> = {};
  const within = (name: string): string => (path === "" ? name : `${path}.${name}`);
  for (const name of requiredOf(schema)) {
    const field = at(schema, "properties", name) ?? at(schema, "additionalProperties");
    fields[name] = isObject(field) ? minimal(document, field, within(name)) : {};
  }
  const least = numberOr(at(schema, "minProperties"), 0);
  for (const [name, field] of fieldsAt(schema, "properties")) {
    if (Object.keys(fields).length >= least) break;
    if (!Object.hasOwn(fields, name)) fields[name] = minimal(document, field, within(name));
  }
  for (let more = 0; Object.keys(fields).length < Math.min(least, MOST); more++)
    fields[`key-${more}`] = minimal(document, at(schema, "additionalProperties") ?? {}, within(`key-${more}`));
  return fields;
}

/** Required by the schema itself, by all of an allOf, and by the first of a choice. */
function requiredOf(schema: JsonObject): ReadonlySet<string> {
  const choices = [...listAt(schema, "allOf"), listAt(schema, "oneOf")[0], listAt(schema, "anyOf")[0]];
  const names = [schema, ...choices].flatMap((one) => listAt(one, "required"));
  return new Set(names.filter((name) => typeof name === "string"));
}

function arrayOf(document: JsonObject, schema: JsonObject, path: string): readonly unknown[] {
  const count = Math.min(numberOr(at(schema, "minItems"), 0), MOST);
  const items = at(schema, "items") ?? {};
  const distinct = count > 1 && typeOf((followed(document, items) ?? {}) as JsonObject) === "string";
  if (distinct) return textsOf(followed(document, items), count);
  return Array.from({ length: count }, (_, index) => minimal(document, items, `${path}[${index}]`));
}

function textOf(schema: JsonObject, path: string): string {
  const [text] = textsOf(schema, 1);
  if (text !== undefined) return text;
  throw new Unmakeable(`${path || "a text"} must match ${String(schema["pattern"] ?? "lengths that nothing has")}`);
}

function numberOf(schema: JsonObject): number {
  const step = numberOr(schema["multipleOf"], 1);
  const least = numberOr(schema["minimum"], Math.min(0, numberOr(schema["maximum"], 0)));
  const above = schema["exclusiveMinimum"] === true ? least + step : least;
  const below = schema["exclusiveMaximum"] === true && above === schema["maximum"] ? above - step : above;
  return Math.ceil(below / step) * step;
}
