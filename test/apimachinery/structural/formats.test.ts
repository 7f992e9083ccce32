import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { computed } from "../../_support/cpu.ts";
import { load } from "./cases.ts";

describe("formats", () => {
  const test = (format: string): ((text: string) => boolean) => {
    const schema = compileSchema({ type: "object", properties: { spec: { type: "string", format } } });
    return (text) => schema.validate({ spec: text }).length === 0;
  };

  const cases = load("formats");

  it("include all of a CustomResourceDefinition", () => {
    expect(cases.map(({ format }) => format)).to.have.length(26);
  });

  for (const { format, valid, invalid } of cases) {
    it(`accept the texts that Kubernetes accepts for ${format}`, () => {
      expect(valid.filter((text) => !test(format)(text))).to.deep.equal([]);
      expect(invalid.filter((text) => test(format)(text))).to.deep.equal([]);
    });

    it(`check ${format} in bounded time, for any text`, () => {
      const started = computed();
      for (const part of ["1", "a", "1a ", "a.", "(", "::", "=", '"\\', "[", "%41", " "]) {
        test(format)(part.repeat(Math.floor(200_000 / part.length)));
        test(format)(`http://${part.repeat(20_000)}`);
      }
      expect(computed() - started).to.be.below(1_500);
    });
  }

  it("are ignored without a meaning for the type", () => {
    expect(test("nonsense")("x")).to.equal(true);
    expect(test("int32")("x")).to.equal(true);
  });
});
