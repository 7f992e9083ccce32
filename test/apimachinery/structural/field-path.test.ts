import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { resolveFieldPath } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";

const schema: JsonSchema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { "x.y": { type: "string" }, "it's": { type: "integer" } } },
    map: { type: "object", additionalProperties: { type: "object", properties: { a: { type: "boolean" } } } },
    open: { type: "object", additionalProperties: true },
    list: { type: "array", items: { type: "string" } },
  },
};

describe("resolveFieldPath", () => {
  const typeAt = (path: string): unknown => {
    const found = resolveFieldPath(path, schema);
    return typeof found === "string" ? found : [found.path, found.schema?.type];
  };

  it("follows names, quoted names and keys of maps", () => {
    expect(typeAt(".spec")).to.deep.equal(["spec", "object"]);
    expect(typeAt("['spec']['x.y']")).to.deep.equal(["spec.x.y", "string"]);
    expect(typeAt(".spec['it\\'s']")).to.deep.equal(["spec.it's", "integer"]);
    expect(typeAt(".map['k'].a")).to.deep.equal(["map[k].a", "boolean"]);
    expect(typeAt(".map.k.a")).to.deep.equal(["map[k].a", "boolean"]);
    expect(typeAt(".open.x")).to.deep.equal(["open[x]", undefined]);
  });

  it("returns why there is no such field", () => {
    const none = "does not refer to a valid field";
    for (const path of [".nope", ".spec.x.y", ".list[0]", ".list.a", ".constructor", ".spec['x']", ".open.x.y"])
      expect(typeAt(path), path).to.be.a("string");
    expect(typeAt(".nope")).to.equal(none);
    expect(typeAt("spec")).to.equal("expected [ or . but got: spec");
    expect(typeAt(".spec['\\q']")).to.equal("invalid string literal: '\\q'");
    expect(resolveFieldPath(".map['k']", schema, { brackets: false })).to.equal("array notation is not allowed");
  });
});
