import { UnknownFields } from "../json/bounded.ts";
import { isJsonObject, type JsonObject, setMember } from "../json/value.ts";
import { parseTime } from "../text/time.ts";
import { ApiError } from "./api-error.ts";

/** Shape of a member of metadata: a scalar, texts in a list or a map, or objects with members of their own. */
type FieldShape = "string" | "time" | "integer" | "boolean" | "texts" | "map" | "object" | { readonly each: Shapes };
type Shapes = Readonly<Record<string, FieldShape>>;

const OWNER: Shapes = {
  apiVersion: "string",
  kind: "string",
  name: "string",
  uid: "string",
  controller: "boolean",
  blockOwnerDeletion: "boolean",
};

const MANAGED: Shapes = {
  manager: "string",
  operation: "string",
  apiVersion: "string",
  time: "time",
  fieldsType: "string",
  fieldsV1: "object",
  subresource: "string",
};

const METADATA: Shapes = {
  name: "string",
  generateName: "string",
  namespace: "string",
  selfLink: "string",
  uid: "string",
  resourceVersion: "string",
  generation: "integer",
  creationTimestamp: "time",
  deletionTimestamp: "time",
  deletionGracePeriodSeconds: "integer",
  labels: "map",
  annotations: "map",
  ownerReferences: { each: OWNER },
  finalizers: "texts",
  managedFields: { each: MANAGED },
};

/**
 * Converts an object's metadata to an ObjectMeta, in place. Removes null and empty members, as Go's encoding leaves them out,
 * and members that ObjectMeta does not have.
 *
 * @returns the paths of unknown members, bounded in number: `metadata.nmae`
 * @throws ApiError 400 on a member of another type than ObjectMeta's
 */
export function normalizeMetadata(object: JsonObject): string[] {
  const unknown = new UnknownFields();
  const metadata = object["metadata"] ?? {};
  if (!isJsonObject(metadata)) throw malformed("metadata", "an object");
  object["metadata"] = metadata;
  normalize(metadata, METADATA, { path: "metadata", unknown });
  return unknown.sorted();
}

interface FieldContext {
  readonly path: string;
  readonly unknown: UnknownFields;
}

function normalize(object: JsonObject, shapes: Shapes, { path, unknown }: FieldContext): void {
  for (const name of Object.keys(object)) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    const value = object[name];
    if (shape === undefined) unknown.add([`${path}.${name}`]);
    else if (shape === "map" && isJsonObject(value)) emptyTexts(value);
    if (shape !== undefined && value !== null) check(value, shape, { path: `${path}.${name}`, unknown });
    if (shape === undefined || (isEmpty(value) && !(value === 0 && MAY_BE_ZERO.has(name)))) delete object[name];
  }
}

/** Go reads null in a map of texts as the empty text. */
function emptyTexts(map: JsonObject): void {
  for (const name of Object.keys(map)) if (map[name] === null) setMember(map, name, "");
}

function check(value: unknown, shape: FieldShape, place: FieldContext): void {
  if (typeof shape === "object") {
    if (!Array.isArray(value)) throw malformed(place.path, "a list");
    value.forEach((item, at) => {
      const path = `${place.path}[${at}]`;
      if (!isJsonObject(item)) throw malformed(path, "an object");
      normalize(item, shape.each, { path, unknown: place.unknown });
    });
  } else if (!CHECKS[shape](value)) throw malformed(place.path, WORDS[shape]);
}

const isText = (value: unknown): boolean => typeof value === "string";

const CHECKS: Readonly<Record<Extract<FieldShape, string>, (value: unknown) => boolean>> = {
  string: isText,
  time: (value) => typeof value === "string" && parseTime(value) !== undefined,
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  texts: (value) => Array.isArray(value) && value.every(isText),
  map: (value) => isJsonObject(value) && Object.keys(value).every((name) => isText(value[name])),
  object: isJsonObject,
};

const WORDS: Readonly<Record<Extract<FieldShape, string>, string>> = {
  string: "a string",
  time: "a time as RFC 3339 writes it",
  integer: "an integer",
  boolean: "a boolean",
  texts: "a list of strings",
  map: "a map of strings",
  object: "an object",
};

/** Pointers in Go: 0 is a value of its own. */
const MAY_BE_ZERO: ReadonlySet<string> = new Set(["deletionGracePeriodSeconds"]);

/** Whether Go leaves a value out of an ObjectMeta when it encodes one. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === "" || value === 0 || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function malformed(path: string, what: string): ApiError {
  return ApiError.badRequest(`${path} must be ${what}`);
}
