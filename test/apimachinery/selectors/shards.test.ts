import { ApiError } from "@virtual-workspaces/apimachinery";
import { parseShardSelector, type Shardable } from "@virtual-workspaces/apimachinery/selectors";
import { expect } from "chai";
import fc from "fast-check";
import { hash64 as hash } from "../../_support/shards.ts";

const UID = "object.metadata.uid";
const ZERO = "0x0000000000000000";
const HALF = "0x8000000000000000";
const LIMIT = "0x10000000000000000";
const range = (start: string, end: string, field = UID): string => `shardRange(${field}, '${start}', '${end}')`;
const shares = (text: string, objects: readonly Shardable[]): readonly boolean[] => {
  const selector = parseShardSelector(text);
  return objects.map((object) => selector.matches(object));
};

const hex = (value: bigint): string => `0x${value.toString(16).padStart(16, "0")}`;

describe("parseShardSelector", () => {
  it("selects by the FNV-1a hash of a field, with the published values of the hash", () => {
    for (const [text, value] of [
      ["", 0xcbf29ce484222325n],
      ["a", 0xaf63dc4c8601ec8cn],
      ["foobar", 0x85944171f73967e8n],
    ] as const) {
      const own = range(hex(value), hex(value + 1n));
      expect(parseShardSelector(own).matches({ uid: text }), text).to.equal(true);
      expect(parseShardSelector(own).matches({ uid: `${text}x` }), text).to.equal(false);
    }
  });

  it("agrees with a hash of big integers for every text and every bound", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.uuid());
    fc.assert(
      fc.property(text, fc.bigInt(0n, 2n ** 64n - 1n), (uid, start) => {
        const selector = parseShardSelector(range(hex(start), LIMIT));
        expect(selector.matches({ uid })).to.equal(hash(uid.toWellFormed()) >= start);
      }),
    );
  });

  it("divides all objects among adjacent ranges", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.bigInt(1n, 2n ** 64n - 1n), (uid, bound) => {
        const [low, high] = [range(ZERO, hex(bound)), range(hex(bound), LIMIT)];
        expect(shares(low, [{ uid }])).to.not.deep.equal(shares(high, [{ uid }]));
        expect(shares(`${low} || ${high}`, [{ uid }])).to.deep.equal([true]);
      }),
    );
  });

  it("takes the namespace, whose absence is the empty text", () => {
    const own = (namespace: string): string =>
      range(hex(hash(namespace)), hex(hash(namespace) + 1n), "object.metadata.namespace");
    expect(shares(own("prod"), [{ namespace: "prod", uid: "a" }, { namespace: "test" }, {}])).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(shares(own(""), [{ namespace: "prod" }, {}])).to.deep.equal([false, true]);
  });

  it("formats canonically what it accepts in other forms", () => {
    const [low, high] = [range(ZERO, HALF), range(HALF, LIMIT)];
    for (const [text, canonical] of [
      [low, low],
      [`${high}||${low}`, `${high} || ${low}`],
      [`  shardRange (object . metadata.uid,"${ZERO}"\n,\t'${HALF}' ) `, low],
      [`((${low}) || ((${high})))`, `${low} || ${high}`],
    ] as const) {
      const selector = parseShardSelector(text);
      expect(selector.toString()).to.equal(canonical);
      expect(parseShardSelector(canonical)).to.deep.include({ field: UID, ranges: selector.ranges });
    }
  });

  it("parses a text of many parentheses and ranges", () => {
    const text = `${"(".repeat(100_000)}${range(ZERO, HALF)}${")".repeat(100_000)}`;
    expect(parseShardSelector(text).ranges).to.have.length(1);
    expect(parseShardSelector(Array(1000).fill(range(ZERO, HALF)).join("||")).ranges).to.have.length(1000);
  });

  const FORM = `use ${range(ZERO, HALF)}, several joined by ||`;
  const digits = `or ${LIMIT} as an end`;
  const rejected: Readonly<Record<string, string>> = {
    "  ": "it is empty: leave it out to get all objects",
    all: `unexpected "all" at offset 0: ${FORM}`,
    "shardRange(": `it ends too early: ${FORM}`,
    [`${range(ZERO, HALF)} ||`]: `it ends too early: ${FORM}`,
    [`(${range(ZERO, HALF)}`]: `it ends too early: ${FORM}`,
    [`${range(ZERO, HALF)})`]: `unexpected ")" at offset 75: ${FORM}`,
    [`${range(ZERO, HALF)} && ${range(HALF, LIMIT)}`]: `unexpected "&" at offset 76: ${FORM}`,
    [`!${range(ZERO, HALF)}`]: `unexpected "!" at offset 0: ${FORM}`,
    "shardRange(object.metadata.uid, 0, 8)": `unexpected "0" at offset 32: ${FORM}`,
    "shardRange(object.metadata.uid, '0x0)": `unexpected "'" at offset 32: ${FORM}`,
    [`shardRange(object.metadata.uid, '${ZERO}')`]: `unexpected ")" at offset 52: ${FORM}`,
    [`shardRange('uid', '${ZERO}', '${HALF}')`]: `unexpected "'uid'" at offset 11: ${FORM}`,
    [range(ZERO, HALF, "metadata.uid")]:
      'unsupported field "metadata.uid": use object.metadata.uid or object.metadata.namespace',
    [`${range(ZERO, HALF)} || ${range(HALF, LIMIT, "object.metadata.namespace")}`]:
      "its ranges have the fields object.metadata.uid and object.metadata.namespace: use one field in all ranges",
    [range("0x0", HALF)]: `bound "0x0": use 0x and 16 lower-case hexadecimal digits, such as ${ZERO}, ${digits}`,
    [range("0xF000000000000000", LIMIT)]:
      `bound "0xF000000000000000": use 0x and 16 lower-case hexadecimal digits, ${digits}`,
    [range(ZERO, "0x10000000000000001")]:
      `bound "0x10000000000000001": use 0x and 16 lower-case hexadecimal digits, ${digits}`,
    [range(HALF, HALF)]: `the start ${HALF} of a range is not below its end ${HALF}: make it lower`,
    [range(LIMIT, LIMIT)]: `the start ${LIMIT} of a range is not below its end ${LIMIT}: make it lower`,
  };
  for (const [text, problem] of Object.entries(rejected)) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      const parse = (): unknown => parseShardSelector(text);
      expect(parse).to.throw(ApiError, `invalid shardSelector: ${problem}`).with.property("code", 400);
    });
  }
});
