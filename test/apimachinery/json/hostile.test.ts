// Why: a body is untrusted, and duplicate members are reported by paths, which may be longer than the body.
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import { computed } from "../../_support/cpu.ts";

const LEVELS = 990;

/** Returns a body of 512 KiB: as many copies of `inner` as fit, in a list below many levels of a name. */
function below(name: string, inner: string): string {
  const opening = `{${JSON.stringify(name)}:`.repeat(LEVELS);
  const count = Math.floor((2 ** 19 - opening.length - LEVELS) / (inner.length + 1));
  return `${opening}[${Array.from({ length: count }, () => inner).join()}]${"}".repeat(LEVELS)}`;
}

describe("JSON that is expensive to process", () => {
  const long = "n".repeat(250);
  const many = (count: number): string => `{${Array.from({ length: count }, () => '"a":1').join()}}`;

  for (const [what, text, told] of [
    ["very many copies of a name in one object", below(long, many(20_000)), 2],
    ["duplicate names below a long path", below(long, many(2)), 5],
    ["duplicate names below an empty path", below("", many(2)), 100],
    ["lists that all have the same path", `{${`"a":${many(3)},`.repeat(30_000)}"b":1}`, 2],
    ["such lists below a long path", below(long, `{${`"a":${many(3)},`.repeat(9_000)}"b":1}`), 2],
    ["such lists below an empty path", below("", `{${`"":${many(3)},`.repeat(20_000)}"b":1}`), 2],
  ] as const) {
    it(`reports ${what} quickly`, () => {
      const started = computed();
      const { duplicates } = parseJson(text);
      expect(computed() - started, "milliseconds").to.be.below(500);
      expect(duplicates).to.have.length(told);
    });
  }
});
