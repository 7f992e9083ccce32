import { compareUtf8, isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import type { JsonSchema } from "../schema.ts";
import { quote } from "../text/go-format.ts";
import { keyElement, type ListElement, valueElement } from "./path-element.ts";

/** List that is one field as a whole (atomic), or whose elements are fields, identified by keys or, without keys, by value. */
export interface ListType {
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly element: ValueType;
}

/** Object that is one field as a whole (atomic), or whose members are fields. */
export interface MapType {
  readonly atomic: boolean;
  /** Declared members; undefined if there are none. */
  readonly fields: ReadonlyMap<string, ValueType> | undefined;
  /** Type of all other members; undefined if none are allowed. */
  readonly element: ValueType | undefined;
  /** Members that every valid object has. */
  readonly required: readonly string[];
}

/** Possible kinds of a value: one or several. */
export interface ValueType {
  readonly scalar: "numeric" | "string" | "boolean" | "untyped" | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
  /** Value that a missing field counts as where it is a key of a list element. */
  readonly default?: unknown;
}

/** Type of a value without schema in a list without schema: one field as a whole. */
export const UNTYPED: ValueType = recursive(true);

/** Type of a value without schema: members of objects are fields, lists are fields as a whole. */
export const DEDUCED: ValueType = recursive(false);

function recursive(atomic: boolean): ValueType {
  const type = { scalar: "untyped", list: undefined, map: undefined } as {
    -readonly [K in keyof ValueType]: ValueType[K];
  };
  type.list = { atomic: true, keys: [], element: atomic ? type : UNTYPED };
  type.map = { atomic, fields: undefined, element: type, required: [] };
  return type;
}

const STRING: ValueType = { scalar: "string", list: undefined, map: undefined };
const BOOLEAN: ValueType = { scalar: "boolean", list: undefined, map: undefined };
const NUMERIC: ValueType = { scalar: "numeric", list: undefined, map: undefined };
const SCALAR: ValueType = { scalar: "untyped", list: undefined, map: undefined };
const REQUIRED_STRING: ValueType = { ...STRING, default: "" };
const STRINGS = mapType({ atomic: false, fields: undefined, element: STRING, required: [] });

const OWNER_REFERENCE = structType({
  apiVersion: REQUIRED_STRING,
  kind: REQUIRED_STRING,
  name: REQUIRED_STRING,
  uid: REQUIRED_STRING,
  controller: BOOLEAN,
  blockOwnerDeletion: BOOLEAN,
});

const MANAGED_FIELDS_ENTRY = structType({
  manager: STRING,
  operation: STRING,
  apiVersion: STRING,
  time: SCALAR,
  fieldsType: STRING,
  fieldsV1: mapType({ atomic: false, fields: undefined, element: DEDUCED, required: [] }),
  subresource: STRING,
});

/** metav1.ObjectMeta. */
const OBJECT_META = structType({
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  selfLink: STRING,
  uid: STRING,
  resourceVersion: STRING,
  generation: NUMERIC,
  creationTimestamp: SCALAR,
  deletionTimestamp: SCALAR,
  deletionGracePeriodSeconds: NUMERIC,
  labels: STRINGS,
  annotations: STRINGS,
  ownerReferences: listType({
    atomic: false,
    keys: ["uid"],
    element: { ...OWNER_REFERENCE, map: atomic(OWNER_REFERENCE) },
  }),
  finalizers: listType({ atomic: false, keys: [], element: STRING }),
  managedFields: listType({ atomic: true, keys: [], element: MANAGED_FIELDS_ENTRY }),
});

const OBJECT_FIELDS: readonly (readonly [string, ValueType])[] = [
  ["apiVersion", STRING],
  ["kind", STRING],
  ["metadata", OBJECT_META],
];

/**
 * Returns the type of a custom resource's objects for server-side apply: its structural schema with the type of ObjectMeta.
 * Without a schema, everything is deduced, including metadata.
 */
export function objectType(schema: JsonSchema | undefined): ValueType {
  return schema === undefined ? DEDUCED : typeOf(schema, { preserve: false, isObject: true });
}

interface SchemaContext {
  /** Whether a schema above preserves unknown fields here. */
  readonly preserve: boolean;
  /** Whether this is an object with apiVersion, kind and metadata. */
  readonly isObject: boolean;
}

function typeOf(schema: JsonSchema, place: SchemaContext): ValueType {
  const preserve = place.preserve || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isObject = place.isObject || schema["x-kubernetes-embedded-resource"] === true;
  const kinds = kindsOf(schema, { preserve, isObject });
  return schema.default === undefined ? kinds : { ...kinds, default: schema.default };
}

function kindsOf(schema: JsonSchema, place: SchemaContext): ValueType {
  switch (schema.type) {
    case "object":
      return mapType(mapOf(schema, place));
    case "array":
      return listType(listOf(schema, place));
    case "string":
      return schema.format === undefined || schema.format === "" || schema.format === "byte" ? STRING : SCALAR;
    case "boolean":
      return BOOLEAN;
    case "integer":
    case "number":
      return NUMERIC;
    default:
      return { scalar: "untyped", list: listOf(schema, place), map: mapOf(schema, place) };
  }
}

function mapOf(schema: JsonSchema, { preserve, isObject }: SchemaContext): MapType {
  const inner: SchemaContext = { preserve, isObject: false };
  const declared = Object.entries(schema.properties ?? {});
  const fields = new Map(declared.map(([name, property]) => [name, typeOf(property, inner)] as const));
  if (isObject) for (const [name, type] of OBJECT_FIELDS) fields.set(name, type);
  const isOpen = preserve || fields.size === 0;
  return {
    atomic: schema["x-kubernetes-map-type"] === "atomic",
    fields: fields.size === 0 ? undefined : fields,
    element: otherMembers(schema, inner) ?? (isOpen && schema.additionalProperties === undefined ? DEDUCED : undefined),
    required: schema.required ?? [],
  };
}

function otherMembers({ additionalProperties }: JsonSchema, place: SchemaContext): ValueType | undefined {
  if (typeof additionalProperties !== "object") return additionalProperties === true ? DEDUCED : undefined;
  return typeOf(additionalProperties, place);
}

function listOf(schema: JsonSchema, { preserve }: SchemaContext): ListType {
  const kind = schema["x-kubernetes-list-type"] ?? "atomic";
  return {
    atomic: kind === "atomic",
    keys: kind === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [],
    element: schema.items === undefined ? UNTYPED : typeOf(schema.items, { preserve, isObject: false }),
  };
}

function mapType(map: MapType): ValueType {
  return { scalar: undefined, list: undefined, map };
}

function listType(list: ListType): ValueType {
  return { scalar: undefined, list, map: undefined };
}

function structType(fields: Readonly<Record<string, ValueType>>): ValueType {
  return mapType({ atomic: false, fields: new Map(Object.entries(fields)), element: undefined, required: [] });
}

function atomic({ map }: ValueType): MapType | undefined {
  return map === undefined ? undefined : { ...map, atomic: true };
}

/** Form in which a value is treated: its own or, if its type does not allow that (null is an example), the first of the type. */
export type Form = "map" | "scalar" | "list";

export function formOf(type: ValueType, value: unknown): Form {
  if (Array.isArray(value)) {
    if (type.list !== undefined) return "list";
  } else if (isJsonObject(value)) {
    if (type.map !== undefined) return "map";
  } else if (value !== null && value !== undefined && type.scalar !== undefined) return "scalar";
  if (type.map !== undefined) return "map";
  return type.scalar === undefined ? "list" : "scalar";
}

/** Returns the type of a member; undefined if the type allows no member of that name. */
export function memberType(type: MapType, name: string): ValueType | undefined {
  return type.fields?.get(name) ?? type.element;
}

/** Returns an object that has members; undefined for any other value. */
export function filledMap(value: unknown): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const name in value) if (Object.hasOwn(value, name) && memberOf(value, name) !== undefined) return value;
  return undefined;
}

/** Returns a list that has elements; undefined for any other value. */
export function filledList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}

/** Returns the name of an element of a list that is a set or has keys, or in `problem`, in Kubernetes' words, why it has none. */
export function elementOf(type: ListType, item: unknown): ListElement | { readonly problem: string } {
  return type.keys.length === 0 ? elementOfSet(item) : elementByKeys(type, item);
}

function elementOfSet(item: unknown): ListElement | { readonly problem: string } {
  if (isJsonObject(item)) return { problem: "associative list without keys has an element that's a map type" };
  if (Array.isArray(item)) return { problem: "not supported: associative list with lists as elements" };
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  return valueElement(item);
}

function elementByKeys(type: ListType, item: unknown): ListElement | { readonly problem: string } {
  if (item === null) return { problem: "associative list with keys may not have a null element" };
  if (!isJsonObject(item)) return { problem: "associative list with keys may not have non-map elements" };
  const keys: [string, unknown][] = [];
  for (const name of type.keys) {
    const given = memberOf(item, name);
    const value = given === undefined ? type.element.map?.fields?.get(name)?.default : given;
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length === 0) {
    const names = type.keys.map(quote).join(" ");
    const problem = `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
    return { problem };
  }
  if (keys.length > 1) keys.sort(([a], [b]) => compareUtf8(a, b));
  return keyElement(keys);
}
