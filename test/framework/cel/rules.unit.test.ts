// Rules of a schema over its objects: when and where they run, and their results.
import type { JsonObject, JsonSchema, ValidationRule } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { RuleEngine, type RuleFindings } from "../../../packages/framework/src/cel/cel-rules.ts";

const PROPERTIES: JsonSchema["properties"] = {
  replicas: { type: "integer" },
  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
  weights: { type: "array", items: { type: "integer" } },
  "x-y": { type: "string" },
};

const schemaOf = (...rules: ValidationRule[]): JsonSchema => ({
  type: "object",
  properties: { spec: { type: "object", properties: PROPERTIES ?? {}, "x-kubernetes-validations": rules } },
});

describe("validation rules", () => {
  const engine = new RuleEngine();
  after(() => engine[Symbol.asyncDispose]());

  const judge = (schema: JsonSchema, spec: JsonObject, old?: JsonObject): RuleFindings | Promise<RuleFindings> =>
    engine.compile(schema).evaluate(compileSchema(schema).rules({ spec }, old && { spec: old }));

  it("are evaluated synchronously if they are cheap", () => {
    const found = judge(schemaOf({ rule: "self.replicas > 1" }), { replicas: 1 });
    expect(found).to.deep.equal({
      causes: [
        { reason: "FieldValueInvalid", field: "spec", message: "Invalid value: failed rule: self.replicas > 1" },
      ],
      warnings: [],
    });
  });

  it("have the same results in place and in a worker", async () => {
    const rule = "self.weights.all(x, self.weights.exists(y, y == x)) && self.weights[0] == 7";
    const few = judge(schemaOf({ rule }), { weights: [1, 2] });
    const many = judge(schemaOf({ rule }), { weights: Array.from({ length: 1000 }, (_, at) => at) });
    expect(few).not.to.be.instanceOf(Promise);
    expect(many).to.be.instanceOf(Promise);
    expect(await many).to.deep.equal(few);
  });

  it("in a worker end when their caller aborts", async () => {
    const schema = schemaOf({ rule: "self.weights.all(x, self.weights.exists(y, y == x))" });
    const sites = compileSchema(schema).rules({ spec: { weights: Array.from({ length: 3000 }, (_, at) => at) } });
    const left = new AbortController();
    const found = engine.compile(schema).evaluate(sites, { signal: left.signal });
    left.abort(new Error("left"));
    const outcome = await Promise.resolve(found).then(
      () => "judged",
      (error: Error) => error.message,
    );
    expect(outcome).to.equal("left");
  });

  it("about a change need an old value", () => {
    const schema = schemaOf({ rule: "self.replicas >= oldSelf.replicas", message: "may only grow" });
    expect(judge(schema, { replicas: 1 })).to.deep.equal({ causes: [], warnings: [] });
    const { causes } = judge(schema, { replicas: 1 }, { replicas: 2 }) as RuleFindings;
    expect(causes.map(({ message }) => message)).to.deep.equal(["Invalid value: may only grow"]);
  });

  it("only warn about unchanged values, unless they are about a change", () => {
    const schema = schemaOf({ rule: "self.replicas > 1" }, { rule: "self.replicas > oldSelf.replicas" });
    const { causes, warnings } = judge(schema, { replicas: 1 }, { replicas: 1 }) as RuleFindings;
    expect(warnings.map(({ message }) => message)).to.deep.equal(["Invalid value: failed rule: self.replicas > 1"]);
    expect(causes.map(({ message }) => message)).to.deep.equal([
      "Invalid value: failed rule: self.replicas > oldSelf.replicas",
    ]);
  });

  it("support 64-bit integers, and properties whose names are not identifiers", () => {
    const schema = schemaOf({ rule: "self.replicas == 9007199254740993 && self.x__dash__y == '__proto__'" });
    const spec = { replicas: 9007199254740993n, "x-y": "__proto__" };
    expect(judge(schema, spec)).to.deep.equal({ causes: [], warnings: [] });
  });

  it("compare sets regardless of order", () => {
    const schema = schemaOf({ rule: "self.tags == oldSelf.tags" });
    const found = judge(schema, { tags: ["a", "b"] }, { tags: ["b", "a"] });
    expect(found).to.deep.equal({ causes: [], warnings: [] });
  });

  it("keep no data of one object for the next", () => {
    const schema = schemaOf({ rule: "self.tags.all(t, t != 'bad')" });
    const rules = engine.compile(schema);
    const causesOf = (tag: string): number => {
      const found = rules.evaluate(compileSchema(schema).rules({ spec: { tags: [tag] } }));
      return (found as RuleFindings).causes.length;
    };
    expect([causesOf("good"), causesOf("bad"), causesOf("good")]).to.deep.equal([0, 1, 0]);
  });

  it("are problems of the schema when they do not compile", () => {
    const { problems } = engine.compile(schemaOf({ rule: "self.nope == 1" }), { path: "spec.schema" });
    expect(problems.map(({ field }) => field)).to.deep.equal([
      "spec.schema.properties[spec].x-kubernetes-validations[0].rule",
    ]);
    expect(problems[0]?.message).to.include("undefined field 'nope'");
  });

  it("are compiled for each of several schemas that share them", () => {
    const rules = [{ rule: "self > 0" }];
    const number = { type: "integer", "x-kubernetes-validations": rules } as const;
    const text = { type: "string", "x-kubernetes-validations": rules } as const;
    const { problems } = engine.compile({ type: "object", properties: { number, text } });
    expect(problems.map(({ field }) => field)).to.deep.equal([
      "schema.properties[text].x-kubernetes-validations[0].rule",
    ]);
  });

  it("for many values report the first thousand causes", async () => {
    const items: JsonSchema = { type: "integer", "x-kubernetes-validations": [{ rule: "self > 0" }] };
    const schema: JsonSchema = { type: "object", properties: { list: { type: "array", items } } };
    const list = Array.from({ length: 20_000 }, () => 0);
    const found = async (old?: JsonObject): Promise<number[]> => {
      const { causes, warnings } = await engine.compile(schema).evaluate(compileSchema(schema).rules({ list }, old));
      return [causes.length, warnings.length];
    };
    expect(await found()).to.deep.equal([1000, 0]);
    expect(await found({ list })).to.deep.equal([0, 1000]);
    expect(await found({ list: [1] })).to.deep.equal([1000, 0]);
  });

  it("cannot call internal functions", () => {
    for (const rule of ["same_k8s(1, 1)", "'a'.matches_k8s('a')", "hAs(self.tags)", "cel.bind(x, 1, x == 1)"]) {
      expect(engine.compile(schemaOf({ rule })).problems, rule).to.have.length.above(0);
    }
  });
});
