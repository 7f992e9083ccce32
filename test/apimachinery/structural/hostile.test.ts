// Why: objects, and the schemas of kinds, are untrusted and large; the list of their faults is always bounded.
import type { JsonObject, JsonSchema } from "@virtual-workspaces/apimachinery";
import { compileSchema, structuralProblems } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { computed } from "../../_support/cpu.ts";

const MOST = 1_000;
const MANY = 150_000;
const long = "n".repeat(100_000);

/** Returns a list with each item twice. */
const twice = (item: (at: number) => unknown): unknown[] =>
  Array.from({ length: 2 * MANY }, (_, at) => item(at % MANY));

const members = (count: number, value: unknown): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, value]));

/** Measures the number and text of the results of `find`; fails if it takes long. */
function found<T>(find: () => readonly T[]): { readonly count: number; readonly text: number } {
  const started = computed();
  const all = find();
  const text = JSON.stringify(all).length;
  expect(computed() - started, "milliseconds").to.be.below(3000);
  return { count: all.length, text };
}

const set: JsonSchema = { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } };
const keyed: JsonSchema = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: { type: "object", properties: { name: { type: "string" } } },
};
const embedded: JsonSchema = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};
const inMap = (schema: JsonSchema): JsonSchema => ({
  type: "object",
  properties: { spec: { type: "object", additionalProperties: schema } },
});

describe("structural schemas that are expensive to check", () => {
  const objects: readonly (readonly [what: string, schema: JsonSchema, spec: JsonObject])[] = [
    ["duplicate items of a set", set, { a: twice(String) }],
    ["duplicate keys of a list", keyed, { a: twice((at) => ({ name: String(at) })) }],
    ["such keys below a long name", keyed, { [long]: twice((at) => ({ name: String(at) })) }],
    ["invalid embedded resources", embedded, members(MANY, {})],
    [
      "values of wrong types below a long name",
      { type: "array", items: { type: "string" } },
      { [long]: twice(Number) },
    ],
  ];
  for (const [what, schema, spec] of objects) {
    it(`report only some of very many ${what}`, () => {
      const compiled = compileSchema(inMap(schema));
      const { count, text } = found(() => compiled.validate({ spec }));
      expect(count).to.be.within(1, MOST);
      expect(text).to.be.below(2 ** 21);
    });
  }

  it("report a thousand causes in all, also for the status alone", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { spec: set, status: { type: "array", items: { type: "integer" } } },
    };
    const object = { spec: twice(String), status: twice(String) };
    const compiled = compileSchema(schema);
    expect(found(() => compiled.validate(object)).count).to.equal(MOST);
    expect(found(() => compiled.validateStatus(object, {})).count).to.equal(MOST);
  });

  for (const [what, name, most] of [
    ["", "a", MOST],
    [" with long paths", long, 20],
  ] as const) {
    it(`report only some of very many unknown fields${what}`, () => {
      const closed: JsonSchema = { type: "object", properties: {} };
      const resource = { apiVersion: "v1", kind: "K", metadata: members(MANY, 1) };
      for (const [schema, value] of [
        [closed, members(MANY, 1)],
        [embedded, resource],
      ] as const) {
        const { count } = found(() => compileSchema(inMap(schema)).prune({ spec: { [name]: value } }));
        expect(count).to.be.within(1, most);
      }
    });
  }

  const schemas: readonly (readonly [what: string, schema: JsonSchema])[] = [
    ["without types", { type: "object", properties: members(MANY, {}) as Record<string, JsonSchema> }],
    [
      "with structure in parts that only validate",
      { type: "object", allOf: twice(() => ({ type: "object" })) as JsonSchema[] },
    ],
    [
      "of undeclared fields",
      { type: "object", anyOf: [{ properties: members(MANY, {}) as Record<string, JsonSchema> }] },
    ],
    [
      "with maps of lists",
      {
        type: "object",
        properties: members(MANY, { type: "string", "x-kubernetes-map-type": "x" }) as Record<string, JsonSchema>,
      },
    ],
    [
      "with duplicate keys",
      { type: "object", properties: { a: { ...keyed, "x-kubernetes-list-map-keys": twice(String) as string[] } } },
    ],
    [
      "with invalid defaults",
      { type: "object", properties: members(MANY / 10, { type: "string", default: 1 }) as Record<string, JsonSchema> },
    ],
    ["of a wrong type", { properties: members(MANY, 1) } as unknown as JsonSchema],
  ];
  for (const [what, schema] of schemas) {
    it(`report only some of very many schemas ${what}`, () => {
      const { count, text } = found(() => structuralProblems(schema));
      expect(count).to.be.within(1, MOST);
      expect(text).to.be.below(2 ** 23);
    });
  }
});
