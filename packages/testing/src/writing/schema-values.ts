import { at, fieldsAt, isObject, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import { dereferenced } from "../probe/openapi-documents.ts";

/** Maximum depth, because schemas may be recursive. */
const DEEPEST = 24;
/** Maximum number of elements, although a schema may require more. */
const MOST = 16;

/** One text for each format that Kubernetes checks, and for those that kinds use often. */
const FORMATS: Readonly<Record<string, string>> = Object.freeze({
  byte: "YQ==",
  cidr: "10.0.0.0/8",
  date: "2026-01-02",
  "date-time": "2026-01-02T03:04:05Z",
  datetime: "2026-01-02T03:04:05Z",
  duration: "1s",
  email: "a@example.com",
  hostname: "a.example.com",
  ipv4: "10.0.0.1",
  ipv6: "fd00::1",
  ip: "10.0.0.1",
  mac: "00:00:5e:00:53:01",
  quantity: "1",
  uri: "https://example.com/a",
  url: "https://example.com/a",
  uuid: "2b1c9d0e-4b1e-4c55-9d0e-2b1c9d0e4b1e",
  uuid4: "2b1c9d0e-4b1e-4c55-9d0e-2b1c9d0e4b1e",
  "k8s-short-name": "a",
  "k8s-long-name": "a.example.com",
});

/** Texts that match most patterns in real kinds. They are short, so that no pattern takes long. */
const USUAL: readonly string[] = Object.freeze([
  ...[
    "a",
    "A",
    "1",
    "0",
    "a1",
    "a1b2c3",
    "abc",
    "Abc",
    "ABC",
    "a-b",
    "a_b",
    "a.b",
    "a/b",
    "a:b",
    "a.example.com",
    "A_B",
  ],
  ...[
    "1s",
    "1h",
    "1Gi",
    "10%",
    "100m",
    "1.0",
    "1.0.0",
    "v1",
    "v1.0.0",
    "1:2",
    "#aabbcc",
    "a=b",
    "$a",
    "/",
    "/a",
    "/a/b",
  ],
  ...["a@example.com", "https://example.com", "oci://example.com/a", "s3://a", "10.0.0.1", "10.0.0.0/8", "* * * * *"],
  ...["00000000", "sha256:".padEnd(71, "0"), "0".repeat(40), "true", "{}", "[]"],
]);

/** Error for a schema that this generator cannot satisfy. */
export class Unmakeable extends Error {
  override readonly name = "Unmakeable";
}

/**
 * Returns the minimal value that a schema accepts: only required fields. Ignores CEL rules.
 *
 * @throws Unmakeable when no known value satisfies the schema
 */
export function minimal(document: JsonObject, schema: unknown, path = ""): unknown {
  if (path.split(/[.[]/).length > DEEPEST) throw new Unmakeable(`${path} is nested too deeply`);
  const own = dereferenced(document, schema);
  if (!isObject(own)) throw new Unmakeable(`${path || "the schema"} does not resolve`);
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
      return stringOf(own, path);
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

/** Fields required by the schema, by all of an allOf, and by the first alternative. */
function requiredOf(schema: JsonObject): ReadonlySet<string> {
  const choices = [...listAt(schema, "allOf"), listAt(schema, "oneOf")[0], listAt(schema, "anyOf")[0]];
  const names = [schema, ...choices].flatMap((one) => listAt(one, "required"));
  return new Set(names.filter((name) => typeof name === "string"));
}

function arrayOf(document: JsonObject, schema: JsonObject, path: string): readonly unknown[] {
  const count = Math.min(numberOr(at(schema, "minItems"), 0), MOST);
  const items = at(schema, "items") ?? {};
  const distinct = count > 1 && typeOf((dereferenced(document, items) ?? {}) as JsonObject) === "string";
  if (distinct) return textsOf(dereferenced(document, items), count);
  return Array.from({ length: count }, (_, index) => minimal(document, items, `${path}[${index}]`));
}

function stringOf(schema: JsonObject, path: string): string {
  const [text] = textsOf(schema, 1);
  if (text !== undefined) return text;
  throw new Unmakeable(
    `${path || "a text"} must match ${String(schema["pattern"] ?? "lengths that no known text has")}`,
  );
}

function numberOf(schema: JsonObject): number {
  const step = numberOr(schema["multipleOf"], 1);
  const least = numberOr(schema["minimum"], Math.min(0, numberOr(schema["maximum"], 0)));
  const above = schema["exclusiveMinimum"] === true ? least + step : least;
  const below = schema["exclusiveMaximum"] === true && above === schema["maximum"] ? above - step : above;
  return Math.ceil(below / step) * step;
}

/** Returns texts that a string schema accepts, as far as this generator can tell, at most `count`. */
export function textsOf(schema: unknown, count: number): readonly string[] {
  const least = numberOr(at(schema, "minLength"), 0);
  const most = numberOr(at(schema, "maxLength"), Number.POSITIVE_INFINITY);
  const pattern = patternOf(textAt(schema, "pattern"));
  const format = FORMATS[textAt(schema, "format")];
  const long = Number.isFinite(least) && least <= 4_096 ? ["a", "b"].map((letter) => letter.repeat(least)) : [];
  const candidates = [
    ...(format === undefined ? [...USUAL, ...long] : [format]),
    ...namedBy(textAt(schema, "pattern")),
  ];
  return candidates
    .filter((text) => text.length >= least && text.length <= most && pattern?.test(text) !== false)
    .slice(0, count);
}

/** Go and JavaScript differ in their expressions. An expression that JavaScript cannot parse is ignored: the server decides. */
function patternOf(pattern: string): RegExp | undefined {
  try {
    return pattern === "" ? undefined : new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

/** Returns the words of a pattern that lists alternatives: `^(Always|Never)$`. */
function namedBy(pattern: string): readonly string[] {
  const inner = /^\^?\(?(?:\?:)?([\w|. /:-]+?)\)?\$?$/.exec(pattern)?.[1];
  return inner === undefined ? [] : inner.split("|");
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
