import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { structuralProblems } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { load, sorted } from "./cases.ts";

describe("structuralProblems", () => {
  for (const { name, schema, status, causes } of load("problems")) {
    it(`finds the problems that Kubernetes finds: ${name}`, () => {
      const found = structuralProblems(schema, { path: "schema.openAPIV3Schema", statusSubresource: status });
      expect(sorted(found)).to.deep.equal(sorted(causes));
    });
  }

  it("checks patterns with the given compiler, at any depth", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        a: { type: "string", pattern: "(" },
        b: { type: "string", allOf: [{ pattern: "ok" }, { pattern: "(?=x)" }] },
      },
    };
    const refuse = (source: string): ((text: string) => boolean) => {
      if (source === "ok") return () => true;
      throw new Error("no");
    };
    const detail = "must be a valid regular expression, but isn't: no";
    expect(structuralProblems(schema, { pattern: refuse })).to.deep.equal([
      { reason: "FieldValueInvalid", field: "schema.properties[a].pattern", message: `Invalid value: "(": ${detail}` },
      {
        reason: "FieldValueInvalid",
        field: "schema.properties[b].allOf[1].pattern",
        message: `Invalid value: "(?=x)": ${detail}`,
      },
    ]);
    expect(structuralProblems({ type: "object", properties: { a: { type: "string", pattern: "(" } } })).to.have.length(
      1,
    );
  });

  it("reports a value that is not a schema, and nothing else", () => {
    const fields = (schema: unknown): unknown => structuralProblems(schema as JsonSchema).map(({ field }) => field);
    expect(fields(5)).to.deep.equal(["schema"]);
    expect(fields({ type: 5, properties: [] })).to.deep.equal(["schema.type", "schema.properties"]);
    expect(fields({ properties: { a: null }, items: { allOf: {} }, required: [1] })).to.deep.equal([
      "schema.properties[a]",
      "schema.items.allOf",
      "schema.required",
    ]);
    expect(fields({ anyOf: [{ minLength: 1.5 }], "x-kubernetes-validations": [{ rule: 5 }] })).to.deep.equal([
      "schema.anyOf[0].minLength",
      "schema.x-kubernetes-validations",
    ]);
  });

  it("rejects schemas that are nested too deeply, and cycles", () => {
    const cyclic: Record<string, unknown> = { type: "array" };
    cyclic["items"] = cyclic;
    const problems = structuralProblems(cyclic as JsonSchema);
    expect(problems).to.have.length(1);
    expect(problems[0]?.message).to.equal("Forbidden: must not be nested deeper than 500 levels");
  });
});
