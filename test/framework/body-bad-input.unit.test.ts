// Why: any input must produce a value or an error within a time limit, while other requests are served.
import { isApiError } from "@virtual-workspaces/apimachinery";
import { parseJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import fc from "fast-check";
import { decodeBody } from "../../packages/framework/src/body/decode.ts";
import { YamlReader } from "../../packages/framework/src/body/yaml/yaml-reader.ts";
import { computed, slowness } from "../_support/cpu.ts";

const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const MAX = 3 * 1024 * 1024;

describe("any body", () => {
  let yaml: YamlReader;
  before(() => {
    yaml = new YamlReader({ budget: 100 });
  });
  after(() => yaml[Symbol.asyncDispose]());

  /** Returns the code of the response. */
  async function outcomeOf(
    body: Buffer,
    contentType: string | undefined,
    check: (value: unknown) => void = (value) => void parseJson(stringifyJson(value)),
  ): Promise<number> {
    const accepted = [JSON_TYPE, YAML_TYPE, "application/merge-patch+json", "application/apply-patch+yaml"];
    try {
      const { value, duplicates, others } = await decodeBody(body, contentType, { yaml, accepted, kind: "Note" });
      check(value);
      expect(duplicates.length + others.length).to.be.at.most(100);
      return 200;
    } catch (error) {
      if (!isApiError(error)) throw error;
      expect(error.message).to.have.length.below(2000);
      return error.code;
    }
  }

  const valid = fc.json().map((text) => Buffer.from(text));
  const yamlText = fc
    .array(
      fc.constantFrom(
        ..."ab:-?&*!|>'\"%@`{}[],#~.0123<=_ ",
        "\n",
        "\n  ",
        ": ",
        "- ",
        "&a ",
        "*a",
        "<<: ",
        "---\n",
        "!!str ",
      ),
    )
    .map((parts) => Buffer.from(parts.join("")));
  const mutated = fc
    .tuple(fc.oneof(valid, yamlText), fc.nat(), fc.uint8Array({ maxLength: 4 }))
    .map(([bytes, place, others]) => {
      const at = place % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), others, bytes.subarray(at + 1)]);
    });
  const body = fc.oneof(
    valid,
    yamlText,
    mutated,
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
  const contentType = fc.oneof(
    fc.constantFrom(undefined, JSON_TYPE, YAML_TYPE, "application/merge-patch+json", "application/apply-patch+yaml"),
    fc.string(),
  );

  it("produces a value, or 400, 413, 415", async () => {
    await fc.assert(
      fc.asyncProperty(body, contentType, async (bytes, type) => {
        expect([200, 400, 413, 415]).to.include(await outcomeOf(bytes, type));
      }),
      { numRuns: 3000 },
    );
  });

  /** Returns text of `size` bytes, the repeated results of `unit`. */
  function filled(size: number, unit: (at: number) => string, [head, tail] = ["", ""]): Buffer {
    const parts = [head];
    let length = head.length + tail.length;
    for (let at = 0; ; at++) {
      const part = unit(at);
      if (length + part.length > size) return Buffer.from(parts.join("").replace(/,$/, "") + tail);
      parts.push(part);
      length += part.length;
    }
  }
  const list: [string, string] = ["[", "]"];
  const map: [string, string] = ["{", "}"];
  const nested = "[".repeat(900) + "]".repeat(900);

  const hostileJson: Readonly<Record<string, readonly [Buffer, code: number]>> = {
    "deep arrays": [filled(MAX, () => `${nested},`, list), 413],
    "the maximum number of deep arrays": [filled(2 * 900 * 290, () => `${nested},`, list), 200],
    brackets: [Buffer.from("[".repeat(MAX)), 413],
    "tiny members": [filled(MAX, (at) => `"${at.toString(36)}":0,`, map), 413],
    "the maximum number of names": [filled(MAX, (at) => `"k${(at % 65_000).toString(36)}":0,`, map), 200],
    "objects of many shapes": [filled(MAX, (at) => (at < 65_000 ? `{"k${at.toString(36)}":0},` : "0,"), list), 200],
    "one repeated member": [filled(MAX, () => '"a":0,', map), 200],
    "numbers of 19 digits": [filled(MAX, () => "9223372036854775807,", list), 200],
    "long numbers": [filled(MAX, () => `0.${"1".repeat(1000)},`, list), 200],
    "one number": [Buffer.from("1".repeat(MAX)), 400],
    escapes: [filled(MAX, () => "\\u0041", ['["', '"]']), 200],
    "halves of surrogate pairs": [filled(MAX, () => "\\ud800", ['["', '"]']), 200],
    "names with escapes": [filled(MAX, (at) => `"\\u006b${at % 65_000}":0,`, map), 200],
    "an error at the end": [filled(MAX, () => '["a",0.1234567890123456],', ["[", "]x"]), 400],
    "colons without names": [Buffer.from(":".repeat(40_000)), 400],
    "colons after a long name": [Buffer.from(`{"${"a".repeat(40_000)}"${":".repeat(40_000)}`), 400],
    "an unfinished string": [Buffer.from(`["${"a".repeat(MAX)}`), 400],
  };
  for (const [what, [text, code]] of Object.entries(hostileJson)) {
    it(`of JSON does not stall the process: ${what}`, async () => {
      expect(await outcomeOf(text, JSON_TYPE)).to.equal(code);
      const began = computed();
      await outcomeOf(text, JSON_TYPE, () => undefined);
      const took = computed() - began;
      // Three times the promised time, scaled by the current speed of this machine.
      expect(took).to.be.lessThan(450 * slowness());
    });
  }

  const hostileYaml: Readonly<Record<string, (size: number) => Buffer>> = {
    commas: (size) => filled(size, () => ",", ["[", ""]),
    brackets: (size) => Buffer.from("[".repeat(size)),
    "wrong brackets": (size) => filled(size, () => "]\n"),
    bangs: (size) => filled(size, () => "! "),
    items: (size) => filled(size, () => "- 0\n"),
    keys: (size) => filled(size, () => "?\n"),
    aliases: (size) => filled(size, () => "- *a\n", [`- &a [${"x,".repeat(50)}]\n`, ""]),
    merges: (size) => filled(size, () => "<<: *a\n", ["z: &a {a: 1}\nb:\n  c: 1\n", ""]),
    directives: (size) => filled(size, () => "%FOO a\n", ["", "---\na"]),
    "an alias bomb": () => {
      const lists = [..."bcdefghij"].map((name, at) => `${name}: &${name} [${`*${"abcdefghij"[at]},`.repeat(9)}]\n`);
      return Buffer.from(`a: &a [x]\n${lists.join("")}`);
    },
  };
  for (const [what, text] of Object.entries(hostileYaml)) {
    it(`of YAML is rejected in time, or parsed: ${what}`, async () => {
      for (const size of [16_000, MAX]) {
        const began = process.cpuUsage(); // includes the worker
        expect([200, 400, 413]).to.include(await outcomeOf(text(size), YAML_TYPE));
        const { user, system } = process.cpuUsage(began);
        expect((user + system) / 1000).to.be.lessThan(2000);
      }
    });
  }

  it("of YAML does not delay other requests", async () => {
    const text = Buffer.from(`[${",".repeat(MAX - 1)}`);
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const code = await outcomeOf(text, YAML_TYPE);
    clearInterval(beat);
    expect(code).to.equal(413);
    expect(longest).to.be.lessThan(150);
  });
});
