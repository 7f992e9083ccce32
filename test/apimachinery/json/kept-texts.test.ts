// Why: a slice of a string keeps the whole string in memory, and a few strings of a body live for long.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseJson, parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";

/** Bytes on the heap after a full collection. */
function held(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("strings of parsed JSON", () => {
  for (const [what, parse] of [
    ["parseJson", (text: string) => parseJson(text).value],
    ["parseOwnJson", parseOwnJson],
  ] as const) {
    for (const number of ["1", "9007199254740993"]) {
      it(`do not keep their source text in memory: ${what}, with ${number}`, () => {
        const before = held();
        const kept = Array.from({ length: 200 }, (_, at) => {
          const text = `{"name":"a-name-of-more-than-a-few-characters-${at}","n":${number},"rest":"${"x".repeat(100_000)}"}`;
          return (parse(Buffer.from(text).toString()) as { name: string }).name;
        });
        expect(held() - before).to.be.below(4_000_000);
        expect(kept[7]).to.equal("a-name-of-more-than-a-few-characters-7");
      });
    }
  }
});
