import type { JsonSchema } from "../schema.ts";

/** A list is one field as a whole (atomic), or its elements are fields, told apart by keys or, without any, by value. */
export interface ListType {
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly element: ValueType;
}

/** An object is one field as a whole (atomic), or its members are fields. */
export interface MapType {
  readonly atomic: boolean;
  /** The declared members; undefined if there are none. */
  readonly fields: ReadonlyMap<string, ValueType> | undefined;
  /** The type of all other members; undefined if there may be none. */
  readonly element: ValueType | undefined;
  /** The members that every valid one has. */
  readonly required: readonly string[];
}

/** What is known of a value: one kind of value, or several. */
export interface ValueType {
  readonly scalar: "numeric" | "string" | "boolean" | "untyped" | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
  /** The value of the field where it is a key of a list element and missing. */
  readonly default?: unknown;
}

/** Of a value without schema, in a list without schema: one field as a whole. */
export const UNTYPED: ValueType = recursive(true);

/** Of a value without schema: members of objects are fields, lists are fields as a whole. */
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
 * The type of a custom resource's objects, as server-side apply sees it: its structural schema with the type of
 * ObjectMeta; without schema, everything is deduced, metadata too.
 */
export function objectType(schema: JsonSchema | undefined): ValueType {
  return schema === undefined ? DEDUCED : typeOf(schema, { preserve: false, isObject: true });
}

interface Place {
  /** Whether unknown fields are kept here, said by a schema above. */
  readonly preserve: boolean;
  /** Whether this is an object with apiVersion, kind and metadata. */
  readonly isObject: boolean;
}

function typeOf(schema: JsonSchema, place: Place): ValueType {
  const preserve = place.preserve || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isObject = place.isObject || schema["x-kubernetes-embedded-resource"] === true;
  const kinds = kindsOf(schema, { preserve, isObject });
  return schema.default === undefined ? kinds : { ...kinds, default: schema.default };
}

function kindsOf(schema: JsonSchema, place: Place): ValueType {
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

function mapOf(schema: JsonSchema, { preserve, isObject }: Place): MapType {
  const inner: Place = { preserve, isObject: false };
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

function otherMembers({ additionalProperties }: JsonSchema, place: Place): ValueType | undefined {
  if (typeof additionalProperties !== "object") return additionalProperties === true ? DEDUCED : undefined;
  return typeOf(additionalProperties, place);
}

function listOf(schema: JsonSchema, { preserve }: Place): ListType {
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
