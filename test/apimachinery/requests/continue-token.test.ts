import { ApiError } from "@virtual-workspaces/apimachinery";
import { decodeContinue, encodeContinue } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";
import fc from "fast-check";

const part = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("/", ""));
const token = fc.record({
  resourceVersion: fc.bigInt({ min: 1n, max: 2n ** 80n }).map(String),
  start: fc.record({ cluster: part, namespace: part, name: fc.string({ unit: "binary" }) }),
});

function encoded(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
}

describe("a continue token", () => {
  it("decodes to the same position, for any key, and beyond 2^53", () => {
    fc.assert(fc.property(token, (value) => void expect(decodeContinue(encodeContinue(value))).to.deep.equal(value)));
  });

  it("is safe in a URL without escaping", () => {
    fc.assert(fc.property(token, (value) => void expect(encodeContinue(value)).to.match(/^[A-Za-z0-9_-]+$/)));
  });

  it("is the JSON of Kubernetes' tokens", () => {
    const text = encodeContinue({ resourceVersion: "12", start: { cluster: "root", namespace: "ns", name: "x" } });
    expect(Buffer.from(text, "base64url").toString()).to.equal('{"v":"meta.k8s.io/v1","rv":"12","start":"root/ns/x"}');
  });

  it("accepts no cluster or namespace with a slash", () => {
    const key = { cluster: "", namespace: "", name: "" };
    for (const start of [
      { ...key, cluster: "a/b" },
      { ...key, namespace: "a/b" },
    ]) {
      expect(() => encodeContinue({ resourceVersion: "1", start })).to.throw(RangeError, "must not contain '/'");
    }
  });

  const good = { v: "meta.k8s.io/v1", rv: "12", start: "a/b/c" };
  const refused: Record<string, string> = {
    "": "continue key is not valid",
    "!": "continue key is not valid",
    "a b": "continue key is not valid",
    [`${encoded(good)}=`]: "continue key is not valid",
    [encoded("{")]: "continue key is not valid",
    [encoded("null")]: "continue key is not valid",
    [encoded("12")]: "continue key is not valid",
    [Buffer.from([0xff, 0xfe]).toString("base64url")]: "continue key is not valid",
    [encoded({ ...good, v: "v2" })]: "server does not recognize this encoded version",
    [encoded({})]: "server does not recognize this encoded version",
    [encoded([])]: "server does not recognize this encoded version",
    [encoded({ ...good, rv: 12 })]: "incorrect encoded start resourceVersion",
    [encoded({ ...good, rv: "0" })]: "incorrect encoded start resourceVersion",
    [encoded({ ...good, rv: "-1" })]: "incorrect encoded start resourceVersion",
    [encoded({ ...good, start: "" })]: "malformed start key",
    [encoded({ ...good, start: "a/b" })]: "malformed start key",
    [encoded({ ...good, start: ["a", "b", "c"] })]: "malformed start key",
    [encoded({ v: good.v, rv: good.rv })]: "malformed start key",
  };
  for (const [text, message] of Object.entries(refused)) {
    it(`is rejected: ${JSON.stringify(text)}`, () => {
      expect(() => decodeContinue(text))
        .to.throw(ApiError, message)
        .with.property("code", 400);
    });
  }

  it("decodes or is rejected with a 400 if it is forged", () => {
    const json = fc.record({ v: fc.constantFrom(good.v, 1, null), rv: fc.jsonValue(), start: fc.jsonValue() });
    const text = fc.oneof(fc.string(), fc.base64String(), json.map(encoded), fc.jsonValue().map(encoded));
    fc.assert(
      fc.property(text, (value) => {
        try {
          decodeContinue(value);
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError).with.property("code", 400);
        }
      }),
      { numRuns: 5000 },
    );
  });
});
