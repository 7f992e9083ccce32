import { kind } from "./kind.ts";

/** Kind with defaults, formats and all other keywords of a structural schema. */
export const RICH = kind({
  kind: "Rich",
  plural: "richs",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          color: { type: "string", enum: ["red", "green", "blue"], default: "red" },
          code: { type: "string", pattern: "^[A-Z]{2}-[0-9]+$" },
          port: { "x-kubernetes-int-or-string": true },
          nick: { type: "string", nullable: true },
          nickWithDefault: { type: "string", nullable: true, default: "nobody" },
          strict: { type: "string", default: "strict" },
          settings: {
            type: "object",
            default: {},
            properties: {
              retries: { type: "integer", default: 3 },
              mode: { type: "string", default: "fast" },
              on: { type: "boolean", default: false },
              inner: { type: "object", properties: { deep: { type: "string", default: "down" } } },
            },
          },
          parts: {
            type: "array",
            items: {
              type: "object",
              required: ["name"],
              properties: { name: { type: "string" }, weight: { type: "integer", default: 1 } },
            },
          },
          byName: {
            type: "object",
            additionalProperties: { type: "object", properties: { weight: { type: "integer", default: 1 } } },
          },
          numbers: { type: "array", default: [1, 2], items: { type: "integer" } },
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          half: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            properties: {
              known: { type: "string" },
              closed: { type: "object", properties: { only: { type: "string" } } },
            },
          },
          anything: { "x-kubernetes-preserve-unknown-fields": true },
          template: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
          },
          typed: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            properties: { spec: { type: "object", properties: { text: { type: "string" } } } },
          },
        },
      },
    },
  },
});

const FORMATS = [
  "date",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "cidr",
  "mac",
  "uri",
  "uuid",
  "uuid3",
  "uuid4",
  "uuid5",
  "byte",
  "password",
  "hexcolor",
  "rgbcolor",
  "creditcard",
  "isbn",
  "isbn10",
  "isbn13",
  "ssn",
  "bsonobjectid",
  "k8s-short-name",
  "k8s-long-name",
  "datetime",
  "unheard-of",
] as const;

/** Kind with a field for each format, named after it. */
export const FORMATTED = kind({
  kind: "Formatted",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          ...Object.fromEntries(FORMATS.map((format) => [format, { type: "string" as const, format }])),
          int32: { type: "integer", format: "int32" },
          int64: { type: "integer", format: "int64" },
          float: { type: "number", format: "float" },
          double: { type: "number", format: "double" },
        },
      },
    },
  },
});

/** Kind with a field for each keyword of validation. */
export const BOUNDED = kind({
  kind: "Bounded",
  scope: "Namespaced",
  schema: {
    type: "object",
    required: ["spec"],
    properties: {
      spec: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          text: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-zé😀]*$" },
          number: { type: "integer", minimum: 3, maximum: 9, multipleOf: 3 },
          open: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
          step: { type: "number", multipleOf: 0.1 },
          list: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", maxLength: 3 } },
          map: {
            type: "object",
            minProperties: 1,
            maxProperties: 2,
            additionalProperties: { type: "integer", minimum: 0 },
          },
          enumInt: { type: "integer", enum: [1, 2, 3] },
          enumMixed: { "x-kubernetes-preserve-unknown-fields": true, enum: ["a", 1, true, { a: 1 }] },
          either: {
            type: "object",
            properties: { a: { type: "string" }, b: { type: "string" } },
            oneOf: [{ required: ["a"] }, { required: ["b"] }],
          },
          any: { type: "string", anyOf: [{ minLength: 10 }, { pattern: "^x" }] },
          all: { type: "integer", allOf: [{ minimum: 2 }, { maximum: 4 }] },
          never: { type: "string", not: { enum: ["forbidden", "banned"] } },
          nested: {
            type: "object",
            required: ["must", "also"],
            properties: {
              must: { type: "string" },
              also: { type: "integer" },
              list: {
                type: "array",
                items: { type: "object", required: ["id"], properties: { id: { type: "integer" } } },
              },
            },
          },
        },
      },
    },
  },
});
