// Defaults that violate the rules of their own schema: no API server accepts such a schema.
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { schemaProblems } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";

/** A kind whose spec has only the given schema. */
const withSpec = (spec: JsonSchema): JsonSchema => ({ type: "object", properties: { spec } });
const TLS: JsonSchema = { type: "string", default: "Agent" };
const RULE = { rule: "self.tls != 'EndToEnd'", message: "say more" };
const told = (schema: JsonSchema) =>
  schemaProblems(schema, { path: "spec.schema" }).map(({ field, message }) => `${field}: ${message}`);

describe("defaults of a schema", () => {
  it("are validated by its rules before nested defaults are set", () => {
    const rules = { "x-kubernetes-validations": [RULE] };
    const spec: JsonSchema = { type: "object", default: {}, properties: { tls: TLS }, ...rules };
    expect(told(withSpec(spec))).to.deep.equal([
      'spec.schema.properties[spec].default: Invalid value: "object": no such key: tls evaluating rule: say more',
    ]);
    expect(told(withSpec({ ...spec, default: { tls: "EndToEnd" } }))).to.deep.equal([
      "spec.schema.properties[spec].default: Invalid value: say more",
    ]);
    expect(told(withSpec({ ...spec, default: { tls: "None" } }))).to.deep.equal([]);
    const guarded = [{ rule: "!has(self.tls) || self.tls != 'EndToEnd'" }];
    expect(told(withSpec({ ...spec, "x-kubernetes-validations": guarded }))).to.deep.equal([]);
  });

  it("are validated by the rules of their nested values, in lists too", () => {
    const port: JsonSchema = {
      type: "integer",
      "x-kubernetes-validations": [{ rule: "self > 0", message: "positive" }],
    };
    const ports: JsonSchema = { type: "array", maxItems: 4, items: port, default: [1, 0] };
    expect(told(withSpec({ type: "object", properties: { ports } }))).to.deep.equal([
      "spec.schema.properties[spec].properties[ports].default[1]: Invalid value: 0: positive",
    ]);
    const item: JsonSchema = { type: "object", properties: { port: { ...port, default: 0 } } };
    expect(
      told(withSpec({ type: "object", properties: { all: { type: "array", maxItems: 4, items: item } } })),
    ).to.deep.equal([
      "spec.schema.properties[spec].properties[all].items.properties[port].default: Invalid value: 0: positive",
    ]);
  });

  it("are validated by transition rules as unchanged values", () => {
    const spec: JsonSchema = { type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self > oldSelf" }] };
    expect(told(withSpec({ type: "object", properties: { count: spec } }))).to.deep.equal([
      "spec.schema.properties[spec].properties[count].default: Invalid value: 1: failed rule: self > oldSelf",
    ]);
  });
});
