import { ApiError, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";

/** What a field of a Go type takes. */
export type Shape =
  /** Texts, booleans, numbers; left out where Go's zero value is not told from nothing. */
  | { readonly is: "string" | "bool" }
  /** Behind a pointer: zero is a value as well. */
  | { readonly is: "string?" | "bool?" | "int?" | "number?" | "json" }
  | { readonly is: "list" | "map"; readonly of: () => Shape }
  | { readonly is: "struct"; readonly fields: Fields; readonly always?: readonly string[] }
  /** A boolean or a struct, a struct or a list of them, a struct or texts. */
  | { readonly is: "either"; readonly of: () => Shape; readonly or: Shape };

/** The fields of a Go struct, by their names in JSON. */
export type Fields = Readonly<Record<string, Shape>>;

/** What is found on the way. */
export interface Found {
  /** Paths of fields that no type knows. */
  readonly unknown: string[];
}

const ZERO: Readonly<Record<string, unknown>> = { string: "", bool: false };

/**
 * A value as Go's types of Kubernetes' API take it: without unknown fields, and without what they do not tell from nothing.
 *
 * @throws ApiError 400 on a value of another type, in the words of Kubernetes' decoder
 */
export function decode(value: unknown, shape: Shape, at: { readonly path: string; readonly found: Found }): unknown {
  const { path, found } = at;
  if (value === undefined || value === null) return undefined;
  switch (shape.is) {
    case "json":
      return value;
    case "list":
      if (!Array.isArray(value)) throw mismatch(path, value, "list");
      if (value.length === 0) return undefined;
      return value.map((item, index) => decodeItem(item, shape.of(), { path: `${path}[${index}]`, found }));
    case "map":
      return decodeMap(value, shape.of(), at);
    case "struct":
      return decodeStruct(value, shape, at);
    case "either":
      return isJsonObject(value) ? decode(value, shape.of(), at) : decode(value, shape.or, at);
    default:
      return decodeScalar(value, shape.is, path);
  }
}

const SCALARS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  int: (value) => Number.isSafeInteger(value),
  number: (value) => typeof value === "number" || typeof value === "bigint",
};

function decodeScalar(value: unknown, is: string, path: string): unknown {
  const type = is.replace("?", "");
  if (SCALARS[type]?.(value) !== true) throw mismatch(path, value, type);
  return is === type && value === ZERO[type] ? undefined : value;
}

function decodeMap(value: unknown, of: Shape, { path, found }: { readonly path: string; readonly found: Found }) {
  if (!isJsonObject(value)) throw mismatch(path, value, "map");
  const made = Object.keys(value).map((name) => {
    const member = decode(value[name], of, { path: `${path}.${name}`, found });
    return [name, member ?? (of.is === "struct" ? {} : undefined)] as const;
  });
  return made.length === 0 ? undefined : Object.fromEntries(made);
}

function decodeStruct(
  value: unknown,
  { fields, always = [] }: Extract<Shape, { readonly is: "struct" }>,
  { path, found }: { readonly path: string; readonly found: Found },
): JsonObject {
  if (!isJsonObject(value)) throw mismatch(path, value, "struct");
  const made: JsonObject = {};
  for (const name of Object.keys(value)) {
    const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const below = path === "" ? name : `${path}.${name}`;
    if (shape === undefined) found.unknown.push(below);
    else {
      const member = decode(value[name], shape, { path: below, found });
      if (member !== undefined) made[name] = member as JsonObject[string];
    }
  }
  for (const name of always) {
    const shape = fields[name];
    if (shape !== undefined && made[name] === undefined) made[name] = zeroOf(shape) as JsonObject[string];
  }
  return made;
}

/** What Go writes of a field that it always writes. */
function zeroOf(shape: Shape): unknown {
  if (shape.is === "struct") return decode({}, shape, { path: "", found: { unknown: [] } });
  if (shape.is === "list") return [];
  return ZERO[shape.is] ?? "";
}

/** Nothing, in a list, is Go's zero value; null is a value where anything is. */
function decodeItem(item: unknown, shape: Shape, at: { readonly path: string; readonly found: Found }): unknown {
  return shape.is === "json" ? (item ?? null) : (decode(item, shape, at) ?? zeroOf(shape));
}

function mismatch(path: string, value: unknown, type: string): ApiError {
  const given = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const version = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition';
  const wants = type === "struct" || type === "map" ? "an object" : type === "list" ? "a list" : `a ${type}`;
  return ApiError.badRequest(`${version}: ${path} is ${given === "array" ? "a list" : `a ${given}`}, must be ${wants}`);
}
