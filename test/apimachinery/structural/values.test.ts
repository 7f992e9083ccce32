import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { load, sorted } from "./cases.ts";

describe("structural schemas, compared with Kubernetes", () => {
  const cases = load("values");

  it("have recordings", () => {
    expect(cases).to.have.length.above(150);
    expect(cases.filter(({ old }) => old !== undefined)).to.have.length.above(50);
  });

  for (const { name, schema, object, old, expect: wanted } of cases) {
    it(`prune, default and validate: ${name}`, () => {
      const compiled = compileSchema(schema);
      const value = cloneJson(object);
      if (wanted.malformed) {
        expect(() => compiled.prune(value))
          .to.throw()
          .with.property("code", 400);
        return;
      }
      expect(compiled.prune(value)).to.deep.equal(wanted.unknown);
      compiled.setDefaults(value);
      expect(value).to.deep.equal(wanted.object);
      expect(sorted(compiled.validate(value, old))).to.deep.equal(sorted(wanted.causes));
      if (wanted.status === undefined || old === undefined) return;
      const lists = sorted(compiled.validate(value, old)).filter(({ reason }) => reason === "FieldValueDuplicate");
      const status = compiled.validateStatus(value, old);
      expect(sorted(status)).to.include.deep.members(sorted(wanted.status));
      expect(status).to.have.length.at.most(wanted.status.length + lists.length);
    });
  }
});
