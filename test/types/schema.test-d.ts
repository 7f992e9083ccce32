// Tests of types: this file is compiled but never run. A wrong inference is an error of Equals. A wrong schema that compiles
// is an unused @ts-expect-error.
import type { CheckedSchema, FromSchema, JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only for `true`. */
type Expect<T extends true> = T;

declare function define<const S extends JsonSchema>(schema: S & CheckedSchema<S>): FromSchema<S>;

const quote = define({
  type: "object",
  required: ["text"],
  properties: { text: { type: "string", maxLength: 200 }, author: { type: "string" } },
});
export type Quote = Expect<Equals<typeof quote, { text: string; author?: string }>>;

const scalars = define({
  type: "object",
  required: ["a", "b", "c", "d", "e", "f", "g", "h"],
  properties: {
    a: { type: "integer", format: "int64" },
    b: { type: "number" },
    c: { type: "boolean" },
    d: { type: "string", format: "date-time" },
    e: { type: "string", enum: ["x", "y"] },
    f: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    g: { "x-kubernetes-preserve-unknown-fields": true },
    h: { type: "integer", enum: [1, 2] },
  },
});
export type Scalars = Expect<
  Equals<
    typeof scalars,
    { a: number; b: number; c: boolean; d: string; e: "x" | "y"; f: string | number; g: unknown; h: 1 | 2 }
  >
>;

const nullable = define({
  type: "object",
  required: ["a"],
  properties: {
    a: { type: "string", nullable: true },
    b: { type: "array", nullable: true, items: { type: "integer", nullable: true } },
    c: { type: "string", nullable: false },
  },
});
export type Nullable = Expect<Equals<typeof nullable, { a: string | null; b?: (number | null)[] | null; c?: string }>>;

const nested = define({
  type: "object",
  required: ["list"],
  properties: {
    list: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          deep: { type: "object", properties: { deeper: { type: "array", items: { type: "boolean" } } } },
        },
      },
    },
    anything: { type: "array" },
  },
});
export type Nested = Expect<
  Equals<typeof nested, { list: { name: string; deep?: { deeper?: boolean[] } }[]; anything?: unknown[] }>
>;

const maps = define({
  type: "object",
  properties: {
    strings: { type: "object", additionalProperties: { type: "string" } },
    lists: { type: "object", additionalProperties: { type: "array", items: { type: "integer" } } },
    any: { type: "object", additionalProperties: true },
    bare: { type: "object" },
    open: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      required: ["a"],
      properties: { a: { type: "string" } },
    },
    raw: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
});
export type Strings = Expect<Equals<NonNullable<typeof maps.strings>, Record<string, string>>>;
export type Lists = Expect<Equals<NonNullable<typeof maps.lists>, Record<string, number[]>>>;
export type Any = Expect<Equals<NonNullable<typeof maps.any>, Record<string, unknown>>>;
export type Bare = Expect<Equals<NonNullable<typeof maps.bare>, Record<string, unknown>>>;
export type Open = Expect<Equals<NonNullable<typeof maps.open>, { [x: string]: unknown; a: string }>>;
export type Raw = Expect<Equals<NonNullable<typeof maps.raw>, { [x: string]: unknown }>>;

const embedded = define({
  type: "object",
  required: ["template"],
  properties: {
    template: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  },
});
export const template: KubeObject = embedded.template;

// A schema in a constant is a literal with `as const`, which is deeply readonly.
const constant = {
  type: "object",
  required: ["a"],
  properties: { a: { type: "array", items: { type: "string", enum: ["x", "y"] } } },
} as const satisfies JsonSchema;
export type Constant = Expect<Equals<FromSchema<typeof constant>, { a: ("x" | "y")[] }>>;

// A schema that is not a literal has the type unknown, and a list of required names that is not a literal requires none.
export type Unknown = Expect<Equals<FromSchema<JsonSchema>, unknown>>;
export type NotRequired = Expect<
  Equals<FromSchema<{ type: "object"; required: string[]; properties: { a: { type: "string" } } }>, { a?: string }>
>;

// Values are writable, although the schema is readonly.
quote.author = "someone";
nested.list.push({ name: "x" });

// @ts-expect-error a field that the schema does not have
quote.autor;
// @ts-expect-error a field of another type
quote.text = 5;
// @ts-expect-error a required field that is missing
nested.list.push({});
// @ts-expect-error not one of the values
scalars.e = "z";
// @ts-expect-error null where it is not allowed
nullable.c = null;
// @ts-expect-error undefined is not the same as missing
quote.author = undefined;

// @ts-expect-error no type of JSON Schema
define({ type: "text" });
// @ts-expect-error a misspelt keyword
define({ type: "object", propertys: {} });
// @ts-expect-error a misspelt keyword further down
define({ type: "object", properties: { a: { type: "string", maxlength: 5 } } });
// @ts-expect-error no list type
define({ type: "array", "x-kubernetes-list-type": "bag" });
// @ts-expect-error a misspelt keyword in an item
define({ type: "array", items: { type: "string", maxlength: 5 } });
// @ts-expect-error a misspelt keyword in a value
define({ type: "object", additionalProperties: { type: "string", maxlength: 5 } });
// @ts-expect-error a misspelt keyword in an alternative
define({ anyOf: [{ type: "string" }, { maxlength: 5 }] });
// @ts-expect-error a required name that is no property
define({ type: "object", required: ["txt"], properties: { text: { type: "string" } } });
// @ts-expect-error a required name that is no property, further down
define({ type: "array", items: { type: "object", required: ["b"], properties: { a: { type: "string" } } } });

// Valid schemas stay valid.
define({ type: "object", required: ["anything"] });
define({ type: "object", additionalProperties: false, properties: {} });
define({
  type: "object",
  properties: { a: { type: "string", default: "x" } },
  allOf: [{ required: ["a"] }, { not: { required: ["b"] } }],
  "x-kubernetes-validations": [{ rule: "has(self.a)", message: "needs a", optionalOldSelf: true }],
});
