import { PROTOBUF_METADATA, type ProtobufField, type ProtobufMessage } from "@virtual-workspaces/framework/resource";

const texts = (name: string): ProtobufField => ({ name, form: "list" });
/** Pointer to a number in Go, so that 0 is a value. */
const number = (name: string, of: "integer" | "double" = "integer"): ProtobufField => ({ name, of, empty: "kept" });
const json = (name: string): ProtobufField => ({ name, of: "json", empty: "kept" });
const flag = (name: string): ProtobufField => ({ name, of: "boolean" });
/** Pointer to a boolean in Go, so that false is a value. */
const setFlag = (name: string): ProtobufField => ({ name, of: "boolean", empty: "kept" });
const recursive = (): ProtobufMessage => schemaMessage;
const schemas = (name: string, form: "list" | "map"): ProtobufField => ({ name, of: recursive, form });

/** Schema or boolean: JSON has the one that is set. */
const orFlag = (name: string): ProtobufField => ({
  name,
  of: { 1: setFlag("allows"), 2: { name: "schema", of: recursive } },
  to: ({ schema, allows = false }) => schema ?? allows,
  empty: "kept",
});
const orSchemas: ProtobufField = {
  name: "items",
  of: { 1: { name: "schema", of: recursive }, 2: schemas("schemas", "list") },
  to: ({ schema, schemas: all = [] }) => schema ?? all,
};
const orTexts: ProtobufField = {
  name: "dependencies",
  form: "map",
  of: { 1: { name: "schema", of: recursive }, 2: texts("property") },
  to: ({ schema, property = [] }) => schema ?? property,
};

const rule: ProtobufMessage = {
  1: { name: "rule", empty: "kept" },
  2: { name: "message" },
  3: { name: "messageExpression" },
  4: { name: "reason", empty: "kept" },
  5: { name: "fieldPath" },
  6: setFlag("optionalOldSelf"),
};

const schemaMessage: ProtobufMessage = {
  1: { name: "id" },
  2: { name: "$schema" },
  3: { name: "$ref", empty: "kept" },
  4: { name: "description" },
  5: { name: "type" },
  6: { name: "format" },
  7: { name: "title" },
  8: json("default"),
  9: number("maximum", "double"),
  10: flag("exclusiveMaximum"),
  11: number("minimum", "double"),
  12: flag("exclusiveMinimum"),
  13: number("maxLength"),
  14: number("minLength"),
  15: { name: "pattern" },
  16: number("maxItems"),
  17: number("minItems"),
  18: flag("uniqueItems"),
  19: number("multipleOf", "double"),
  20: { name: "enum", of: "json", form: "list" },
  21: number("maxProperties"),
  22: number("minProperties"),
  23: texts("required"),
  24: orSchemas,
  25: schemas("allOf", "list"),
  26: schemas("oneOf", "list"),
  27: schemas("anyOf", "list"),
  28: { name: "not", of: recursive },
  29: schemas("properties", "map"),
  30: orFlag("additionalProperties"),
  31: schemas("patternProperties", "map"),
  32: orTexts,
  33: orFlag("additionalItems"),
  34: schemas("definitions", "map"),
  35: { name: "externalDocs", of: { 1: { name: "description" }, 2: { name: "url" } } },
  36: json("example"),
  37: flag("nullable"),
  38: setFlag("x-kubernetes-preserve-unknown-fields"),
  39: flag("x-kubernetes-embedded-resource"),
  40: flag("x-kubernetes-int-or-string"),
  41: texts("x-kubernetes-list-map-keys"),
  42: { name: "x-kubernetes-list-type", empty: "kept" },
  43: { name: "x-kubernetes-map-type", empty: "kept" },
  44: { name: "x-kubernetes-validations", of: rule, form: "list" },
};

const names: ProtobufMessage = {
  1: { name: "plural", empty: "kept" },
  2: { name: "singular" },
  3: texts("shortNames"),
  4: { name: "kind", empty: "kept" },
  5: { name: "listKind" },
  6: texts("categories"),
};

const column: ProtobufMessage = {
  1: { name: "name", empty: "kept" },
  2: { name: "type", empty: "kept" },
  3: { name: "format" },
  4: { name: "description" },
  5: { name: "priority", of: "integer" },
  6: { name: "jsonPath", empty: "kept" },
};

const subresources: ProtobufMessage = {
  1: { name: "status", of: {} },
  2: {
    name: "scale",
    of: {
      1: { name: "specReplicasPath", empty: "kept" },
      2: { name: "statusReplicasPath", empty: "kept" },
      3: { name: "labelSelectorPath", empty: "kept" },
    },
  },
};

const version: ProtobufMessage = {
  1: { name: "name", empty: "kept" },
  2: setFlag("served"),
  3: setFlag("storage"),
  4: { name: "schema", of: { 1: { name: "openAPIV3Schema", of: recursive } } },
  5: { name: "subresources", of: subresources },
  6: { name: "additionalPrinterColumns", of: column, form: "list" },
  7: flag("deprecated"),
  8: { name: "deprecationWarning", empty: "kept" },
  9: { name: "selectableFields", of: { 1: { name: "jsonPath", empty: "kept" } }, form: "list" },
};

const service: ProtobufMessage = {
  1: { name: "namespace", empty: "kept" },
  2: { name: "name", empty: "kept" },
  3: { name: "path", empty: "kept" },
  4: number("port"),
};

const webhook: ProtobufMessage = {
  2: {
    name: "clientConfig",
    of: {
      1: { name: "service", of: service },
      2: { name: "caBundle", of: "bytes" },
      3: { name: "url", empty: "kept" },
    },
  },
  3: texts("conversionReviewVersions"),
};

const condition: ProtobufMessage = {
  1: { name: "type", empty: "kept" },
  2: { name: "status", empty: "kept" },
  3: { name: "lastTransitionTime", of: "time" },
  4: { name: "reason" },
  5: { name: "message" },
  6: { name: "observedGeneration", of: "integer" },
};

export const customResourceDefinitionMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: { name: "group", empty: "kept" },
      3: { name: "names", of: names },
      4: { name: "scope", empty: "kept" },
      7: { name: "versions", of: version, form: "list" },
      9: {
        name: "conversion",
        of: { 1: { name: "strategy", empty: "kept" }, 2: { name: "webhook", of: webhook } },
      },
      10: flag("preserveUnknownFields"),
    },
  },
  3: {
    name: "status",
    of: {
      1: { name: "conditions", of: condition, form: "list" },
      2: { name: "acceptedNames", of: names },
      3: texts("storedVersions"),
      4: { name: "observedGeneration", of: "integer" },
    },
  },
};
