// Valid and invalid schemas, each in a definition with one version.
import { type CrdCase, withVersion } from "./definitions.ts";

type Schema = { readonly [name: string]: unknown };

function inSpec(name: string, member: Schema, more: Schema = {}): CrdCase {
  return of(name, { type: "object", properties: { spec: { type: "object", properties: { x: member }, ...more } } });
}

function of(name: string, openAPIV3Schema: Schema, more: Schema = {}): CrdCase {
  return { name: `schema: ${name}`, crd: withVersion({ schema: { openAPIV3Schema }, ...more }) };
}

const rule = (text: string, more: Schema = {}): Schema => ({ "x-kubernetes-validations": [{ rule: text, ...more }] });
const STATUS = { subresources: { status: {} } };
const items = {
  type: "object",
  required: ["k"],
  properties: { k: { type: "string" }, l: { type: "array", items: { type: "string" } } },
};

export const SCHEMA_CASES: readonly CrdCase[] = [
  of("no type", { properties: {} }),
  of("a list at the root", { type: "array", items: { type: "string" } }),
  of("additionalProperties at the root", { type: "object", additionalProperties: { type: "string" } }),
  of("nullable at the root", { type: "object", nullable: true }),
  of("metadata with more", {
    type: "object",
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
  }),
  of("metadata's name", {
    type: "object",
    properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 9 } } } },
  }),
  of("kind an integer", { type: "object", properties: { kind: { type: "integer" } } }),
  of("status: anyOf at the root", { type: "object", anyOf: [{ required: ["spec"] }] }, STATUS),
  of("status: another type at the root", { type: "array", items: { type: "string" } }, STATUS),
  of("anyOf at the root without status", {
    type: "object",
    properties: { spec: { type: "object" } },
    anyOf: [{ required: ["spec"] }],
  }),
  inSpec("a field without type", {}),
  inSpec("a type that is none", { type: "text" }),
  inSpec("null as a type", { type: "null" }),
  inSpec("a list without items", { type: "array" }),
  inSpec("items as a list", { type: "array", items: [{ type: "string" }] }),
  inSpec("uniqueItems", { type: "array", items: { type: "string" }, uniqueItems: true }),
  inSpec("properties and additionalProperties", {
    type: "object",
    properties: { a: { type: "string" } },
    additionalProperties: { type: "string" },
  }),
  inSpec("additionalProperties false", {
    type: "object",
    properties: { a: { type: "string" } },
    additionalProperties: false,
  }),
  inSpec("a reference", { $ref: "#/definitions/a" }),
  inSpec("an id", { type: "string", id: "a" }),
  inSpec("definitions", { type: "string", definitions: { a: { type: "string" } } }),
  inSpec("patternProperties", { type: "object", patternProperties: { a: { type: "string" } } }),
  inSpec("dependencies", { type: "object", dependencies: { a: ["b"] } }),
  inSpec("a pattern that is none", { type: "string", pattern: "(" }),
  inSpec("a pattern that is none in Go", { type: "string", pattern: "(?=a)" }),
  inSpec("a default of another type", { type: "integer", default: "a" }),
  inSpec("a default too many", { type: "object", properties: { a: { type: "string" } }, default: { b: 1 } }),
  inSpec("a default", { type: "integer", default: 3, minimum: 1 }),
  inSpec("a default that is null", { type: "string", default: null }),
  inSpec("types in anyOf", { type: "object", anyOf: [{ properties: { a: { type: "string" } } }] }),
  inSpec("a property in anyOf alone", { type: "object", anyOf: [{ properties: { a: { minLength: 1 } } }] }),
  inSpec("int or string", { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }),
  inSpec("int or string and a type", { "x-kubernetes-int-or-string": true, type: "string" }),
  inSpec("preserve unknown fields false", { type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  inSpec("preserve unknown fields", { "x-kubernetes-preserve-unknown-fields": true }),
  inSpec("an embedded resource", {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  }),
  inSpec("an embedded resource without properties", { type: "object", "x-kubernetes-embedded-resource": true }),
  inSpec("an embedded list", { type: "array", items: { type: "string" }, "x-kubernetes-embedded-resource": true }),
  inSpec("a list type of a text", { type: "string", "x-kubernetes-list-type": "set" }),
  inSpec("a list type that is none", { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bag" }),
  inSpec("a set of objects", { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
  inSpec("a set of atomic objects", {
    type: "array",
    items: { type: "object", "x-kubernetes-map-type": "atomic" },
    "x-kubernetes-list-type": "set",
  }),
  inSpec("a map without keys", { type: "array", items, "x-kubernetes-list-type": "map" }),
  inSpec("a map", { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }),
  inSpec("a map by what is not there", {
    type: "array",
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["z"],
  }),
  inSpec("a map by a list", {
    type: "array",
    items: { ...items, required: ["l"] },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["l"],
  }),
  inSpec("a map by a key twice", {
    type: "array",
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k", "k"],
  }),
  inSpec("a map by what is optional", {
    type: "array",
    items: { ...items, required: [] },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }),
  inSpec("keys without a map", { type: "array", items, "x-kubernetes-list-map-keys": ["k"] }),
  inSpec("a map type that is none", { type: "object", "x-kubernetes-map-type": "x" }),
  inSpec("a format that is none", { type: "string", format: "colour" }),
  inSpec("formats of numbers", { type: "integer", format: "int64" }),
  inSpec("a rule", { type: "integer", ...rule("self > 1") }),
  inSpec("a rule that is none", { type: "integer", ...rule("self >") }),
  inSpec("a rule of another type", { type: "integer", ...rule("self + 1") }),
  inSpec("a rule about what is not there", {
    type: "object",
    properties: { a: { type: "string" } },
    ...rule("self.b == 1"),
  }),
  inSpec("an empty rule", { type: "integer", ...rule("  ") }),
  inSpec("a rule with a blank message", { type: "integer", ...rule("self > 1", { message: "  " }) }),
  inSpec("a rule with a long message", { type: "integer", ...rule("self > 1", { message: "a\nb" }) }),
  inSpec("a rule of two lines", { type: "integer", ...rule("self >\n1") }),
  inSpec("a rule with another reason", { type: "integer", ...rule("self > 1", { reason: "Because" }) }),
  inSpec("a rule with a path to nowhere", {
    type: "object",
    properties: { a: { type: "string" } },
    ...rule("true", { fieldPath: ".b" }),
  }),
  inSpec("a rule whose message is none", { type: "integer", ...rule("self > 1", { messageExpression: "self" }) }),
  inSpec("a rule about the past in a list", { type: "array", items: { type: "string", ...rule("self == oldSelf") } }),
  inSpec("optionalOldSelf without oldSelf", { type: "integer", ...rule("self > 1", { optionalOldSelf: true }) }),
  inSpec("a rule that costs too much", {
    type: "array",
    items: { type: "array", items: { type: "string" }, ...rule("self.all(x, self.all(y, x == y))") },
  }),
  inSpec("a rule that costs nothing", {
    type: "array",
    maxItems: 10,
    items: { type: "string", maxLength: 10, ...rule("self.startsWith('a')") },
  }),
  inSpec("a keyword that nobody knows", { type: "integer", minimun: 1 }),
  inSpec("an empty enum", { type: "string", enum: [] }),
  inSpec("required without properties", { type: "object", required: ["a"] }),
];
