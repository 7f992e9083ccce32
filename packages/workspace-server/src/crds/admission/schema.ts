import type { Fields, Shape } from "./decode.ts";

const TEXT: Shape = { is: "string" };
const FLAG: Shape = { is: "bool" };
const COUNT: Shape = { is: "int?" };
const NUMBER: Shape = { is: "number?" };
const ANY: Shape = { is: "json" };
export const TEXTS: Shape = { is: "list", of: () => TEXT };

const SCHEMAS: Shape = { is: "list", of: () => SCHEMA };
const NAMED: Shape = { is: "map", of: () => SCHEMA };
const SCHEMA_OR_BOOL: Shape = { is: "either", of: () => SCHEMA, or: { is: "bool?" } };

const RULE: Shape = {
  is: "struct",
  always: ["rule"],
  fields: {
    rule: TEXT,
    message: TEXT,
    messageExpression: TEXT,
    reason: { is: "string?" },
    fieldPath: TEXT,
    optionalOldSelf: { is: "bool?" },
  },
};

const FIELDS: Fields = {
  id: TEXT,
  $schema: TEXT,
  $ref: { is: "string?" },
  description: TEXT,
  type: TEXT,
  format: TEXT,
  title: TEXT,
  default: ANY,
  maximum: NUMBER,
  exclusiveMaximum: FLAG,
  minimum: NUMBER,
  exclusiveMinimum: FLAG,
  maxLength: COUNT,
  minLength: COUNT,
  pattern: TEXT,
  maxItems: COUNT,
  minItems: COUNT,
  uniqueItems: FLAG,
  multipleOf: NUMBER,
  enum: { is: "list", of: () => ANY },
  maxProperties: COUNT,
  minProperties: COUNT,
  required: TEXTS,
  items: { is: "either", of: () => SCHEMA, or: SCHEMAS },
  allOf: SCHEMAS,
  oneOf: SCHEMAS,
  anyOf: SCHEMAS,
  get not(): Shape {
    return SCHEMA;
  },
  properties: NAMED,
  additionalProperties: SCHEMA_OR_BOOL,
  patternProperties: NAMED,
  dependencies: { is: "map", of: () => ({ is: "either", of: () => SCHEMA, or: TEXTS }) },
  additionalItems: SCHEMA_OR_BOOL,
  definitions: NAMED,
  externalDocs: { is: "struct", fields: { description: TEXT, url: TEXT } },
  example: ANY,
  nullable: FLAG,
  "x-kubernetes-preserve-unknown-fields": { is: "bool?" },
  "x-kubernetes-embedded-resource": FLAG,
  "x-kubernetes-int-or-string": FLAG,
  "x-kubernetes-list-map-keys": TEXTS,
  "x-kubernetes-list-type": { is: "string?" },
  "x-kubernetes-map-type": { is: "string?" },
  "x-kubernetes-validations": { is: "list", of: () => RULE },
};

/** Shape of JSONSchemaProps, which is recursive. */
export const SCHEMA: Shape = { is: "struct", fields: FIELDS };
