import type { JsonObject, JsonSchema } from "@virtual-workspaces/apimachinery";
import { cloneJson, setMember } from "@virtual-workspaces/apimachinery/json";
import { compileSchema, structuralProblems } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import fc from "fast-check";
import { computed } from "../../_support/cpu.ts";

const NAMES = ["a", "b", "apiVersion", "kind", "metadata", "__proto__", "constructor", ""];
const name = fc.constantFrom(...NAMES);

/** Objects whose members may have any name. */
function members<T>(values: fc.Arbitrary<T>): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(name, values), { maxLength: 4 }).map((entries) => {
    const object: JsonObject = {};
    for (const [key, value] of entries) setMember(object, key, value);
    return object;
  });
}

const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -0, 1, 1.5, 1e300, -1e300, 2 ** 53, 9_007_199_254_740_993n, -(2n ** 63n)),
  fc.string({ maxLength: 5, unit: "binary" }),
);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("json"), { maxLength: 4 }), members(tie("json"))),
}));

const { schema: anySchema } = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const list = fc.array(tie("schema"), { maxLength: 3 });
  const flag = fc.boolean();
  const count = fc.integer({ min: -1, max: 4 });
  const limit = fc.constantFrom(0, 1, -1.5, 0.5, 1e300);
  const keywords = {
    type: fc.constantFrom("object", "array", "string", "integer", "number", "boolean"),
    format: fc.constantFrom("date", "int32", "float", "email", "nonsense"),
    nullable: flag,
    default: json,
    enum: fc.array(json, { maxLength: 3 }),
    properties: members(tie("schema")),
    required: fc.array(name, { maxLength: 2 }),
    additionalProperties: fc.oneof(flag, tie("schema")),
    items: tie("schema"),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom("^a", "b$"),
    minimum: limit,
    maximum: limit,
    multipleOf: limit,
    maxItems: count,
    minProperties: count,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: tie("schema"),
    "x-kubernetes-preserve-unknown-fields": flag,
    "x-kubernetes-embedded-resource": flag,
    "x-kubernetes-int-or-string": flag,
    "x-kubernetes-list-type": fc.constantFrom("atomic", "set", "map"),
    "x-kubernetes-list-map-keys": fc.array(name, { maxLength: 2 }),
    "x-kubernetes-validations": fc.constantFrom([{ rule: "true" }]),
  };
  const any = fc.record(keywords, { requiredKeys: [] }) as fc.Arbitrary<JsonSchema>;
  return { schema: fc.oneof({ depthSize: "small" }, fc.constant({}), any) };
});

describe("structural schemas with any input", () => {
  it("throw only for unreadable objects, and find no faults after a valid result", () => {
    fc.assert(
      fc.property(anySchema, members(json), members(json), (schema, object, old) => {
        structuralProblems(schema);
        const compiled = compileSchema(schema);
        try {
          compiled.prune(object);
        } catch (error) {
          expect(error).to.have.property("code", 400);
          return;
        }
        const pruned = cloneJson(object);
        expect(compiled.prune(object)).to.deep.equal([]);
        expect(object).to.deep.equal(pruned);
        compiled.setDefaults(object);
        const whole = cloneJson(object);
        compiled.setDefaults(object);
        expect(object).to.deep.equal(whole);
        const causes = compiled.validate(object);
        expect(compiled.validate(object)).to.deep.equal(causes);
        expect(object).to.deep.equal(whole);
        for (const site of compiled.rules(object, old)) expect(site.path).to.be.a("string");
        compiled.validate(object, old);
        compiled.validateStatus(object, old);
        expect(compiled.validate(object, cloneJson(object)).length).to.be.at.most(causes.length);
      }),
      { numRuns: 1_500 },
    );
  });

  it("compile if they have no problems", () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const root: JsonSchema = { type: "object", properties: { spec: schema } };
        if (structuralProblems(root).length === 0) compileSchema(root).setDefaults({});
      }),
    );
  });

  it("accept values a thousand levels deep", () => {
    const deep = (levels: number, make: (inner: unknown) => unknown): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = make(value);
      return value;
    };
    const lists = deep(1_000, (inner) => [inner]);
    const objects = deep(1_000, (inner) => ({ a: inner }));
    const schemas = [
      { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      {
        type: "object",
        properties: { spec: deep(400, (items) => (items === 1 ? {} : { type: "array", items })) as JsonSchema },
      },
    ] as const;
    for (const schema of schemas) {
      const compiled = compileSchema(schema);
      for (const spec of [lists, objects]) {
        const object: JsonObject = { spec: cloneJson(spec) };
        compiled.prune(object);
        compiled.setDefaults(object);
        compiled.validate(object);
        compiled.validate(object, { spec });
      }
    }
  });

  it("report a thousand faults at most, quickly", () => {
    const compiled = compileSchema({
      type: "object",
      properties: { spec: { type: "array", items: { type: "string" } } },
    });
    const object = { spec: Array.from({ length: 500_000 }, () => 5) };
    const started = computed();
    expect(compiled.validate(object)).to.have.length.within(1_000, 1_001);
    expect(computed() - started).to.be.below(150);
  });

  it("try alternatives within alternatives in bounded time", () => {
    let schema: JsonSchema = { minimum: 5 };
    for (let level = 0; level < 60; level++) schema = { anyOf: [schema, { allOf: [{ minimum: 6 }] }] };
    const compiled = compileSchema({ type: "object", properties: { spec: { type: "integer", ...schema } } });
    const started = computed();
    expect(compiled.validate({ spec: 1 }).length).to.be.above(0);
    expect(computed() - started).to.be.below(150);
  });

  it("compare each value once for ratcheting", () => {
    let schema: JsonSchema = { type: "string", maxLength: 1 };
    let [value, old]: [unknown, unknown] = ["long", "long"];
    for (let level = 0; level < 200; level++) {
      schema = { type: "object", maxProperties: 0, properties: { a: schema, b: { type: "string" } } };
      [value, old] = [
        { a: value, b: "x" },
        { a: old, b: "x" },
      ];
    }
    const compiled = compileSchema({ type: "object", properties: { spec: schema } });
    expect(compiled.validate({ spec: value }, { spec: old })).to.deep.equal([]);
    expect(compiled.validate({ spec: value })).to.have.length(201);
  });
});
