import { ApiError, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";

/** Shape of a field of a Go type. */
export type Shape =
  /** String or boolean; Go's zero value means that the field is missing. */
  | { readonly is: "string" | "bool" }
  /** Pointer in Go, so that zero is a value; or any JSON. */
  | { readonly is: "string?" | "bool?" | "int?" | "number?" | "json" }
  | { readonly is: "list" | "map"; readonly of: () => Shape }
  | { readonly is: "struct"; readonly fields: Fields; readonly always?: readonly string[] }
  /** One of two shapes: a struct, or else a boolean, a list of structs, or a list of strings. */
  | { readonly is: "either"; readonly of: () => Shape; readonly or: Shape };

/** Fields of a Go struct, by JSON name. */
export type Fields = Readonly<Record<string, Shape>>;

/** Findings of the decoder. */
export interface Found {
  /** Paths of unknown fields. */
  readonly unknown: string[];
}

const ZERO: Readonly<Record<string, unknown>> = { string: "", bool: false };

/**
 * Decodes a value as Go's types of Kubernetes' API do: drops unknown fields, and those equal to a missing field in Go.
 *
 * @throws ApiError 400 on a value of another type, with a message like that of Kubernetes' decoder
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

/** Returns the value that Go encodes for a field without `omitempty`. */
function zeroOf(shape: Shape): unknown {
  if (shape.is === "struct") return decode({}, shape, { path: "", found: { unknown: [] } });
  if (shape.is === "list") return [];
  return ZERO[shape.is] ?? "";
}

/** A missing item of a list becomes Go's zero value; null stays if any JSON is allowed. */
function decodeItem(item: unknown, shape: Shape, at: { readonly path: string; readonly found: Found }): unknown {
  return shape.is === "json" ? (item ?? null) : (decode(item, shape, at) ?? zeroOf(shape));
}

function mismatch(path: string, value: unknown, type: string): ApiError {
  const given = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const version = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition';
  const wants = type === "struct" || type === "map" ? "an object" : type === "list" ? "a list" : `a ${type}`;
  return ApiError.badRequest(`${version}: ${path} is ${given === "array" ? "a list" : `a ${given}`}, must be ${wants}`);
}
