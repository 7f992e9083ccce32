// Why: other programs, among them kcp's own, compute the same hashes. A wrong digit hides all objects from a provider. The expected
// values come from kcp's tests.
import {
  base36,
  base62,
  claimHash,
  claimLabel,
  exportHash,
  identityHash,
  initializerLabel,
  newIdentityKey,
  reflexiveLabel,
  shardHash,
  terminatorLabel,
} from "@virtual-workspaces/kcp/names";
import { expect } from "chai";
import fc from "fast-check";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const TENANCY = { cluster: "root", name: "tenancy.kcp.io" };
const FOREIGN = { cluster: "abcd1234", name: "my-export" };

describe("base62", () => {
  for (const [input, text] of [
    [[], "0"],
    [[0], "0"],
    [[1], "1"],
    [[0xff], "47"],
    [[0, 0, 61], "Z"],
  ] as const)
    it(`encodes ${JSON.stringify(input)} as ${text}`, () => expect(base62(bytes(...input))).to.equal(text));

  it("encodes the bytes as one number", () => {
    const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 224n }), (number) => {
        const hex = number.toString(16);
        const text = base62(Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex"));
        expect([...text].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)).to.equal(number);
      }),
    );
  });
});

describe("base36", () => {
  for (const [input, text] of [
    [[], ""],
    [[1], "1"],
    [[0xff], "73"],
    [[1, 0], "74"],
    [[0, 1], "01"],
    [[0, 0, 1], "001"],
    [[0, 0], "00"],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "3w5e11264sgsf"],
    [[0x00, 0xc6, 0x50, 0xb1, 0xad, 0x5a, 0x99, 0xc3], "0f9mt7goyif7"],
  ] as const)
    it(`encodes ${JSON.stringify(input)} as "${text}"`, () => expect(base36(bytes(...input))).to.equal(text));
});

describe("exportHash", () => {
  it("has the same result for an export after a thousand others", () => {
    const first = exportHash(TENANCY);
    const others = new Set(Array.from({ length: 1_000 }, (_, at) => exportHash({ cluster: `c${at}`, name: "x" })));
    expect(others.size).to.equal(1_000);
    expect(exportHash(TENANCY)).to.equal(first);
  });

  it("equals kcp's", () => {
    expect(exportHash(TENANCY)).to.equal("bmCdly9xXiUpEHe3ypvDwvXMTfoVZUE92mqAQf");
    expect(exportHash(FOREIGN)).to.equal("phGj1BkmdNY3LKTrtFc1KGLYTBs8Nt50p8PIU");
  });
});

describe("claimHash", () => {
  it("equals kcp's for a built-in resource, with or without a group", () => {
    expect(claimHash({ resource: "configmaps" })).to.equal("3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe");
    expect(claimHash({ group: "", resource: "configmaps", identityHash: "" })).to.equal(
      claimHash({ resource: "configmaps" }),
    );
  });

  it("equals kcp's for a resource of an export", () => {
    const claim = { group: "apps", resource: "deployments", identityHash: "deadbeef" };
    expect(claimHash(claim)).to.equal("4CpOMiJ5JL9ZC4cG8ne7nGNQbSOEUiwZ89KHal");
  });

  it("ignores the other fields of a claim", () => {
    const claim = { resource: "configmaps", verbs: ["get"], defaultSelector: { matchAll: true }, state: "Accepted" };
    expect(claimHash(claim)).to.equal(claimHash({ resource: "configmaps" }));
  });

  it("escapes special characters of an identity like Go", () => {
    // printf '{"resource":"a","verbs":null,"identityHash":"\\u003c\\u0026\\u003e"}' | sha224sum, in base62
    expect(claimHash({ resource: "a", identityHash: "<&>" })).to.equal("4qeOss4RH8xamjMLCqY5rmE5BBZcsKLZa52PGi");
  });
});

describe("labels", () => {
  it("of a claim equal kcp's", () => {
    expect(claimLabel(TENANCY, { resource: "configmaps" })).to.deep.equal({
      key: "claimed.internal.apis.kcp.io/bmCdly9xXiUpEHe3ypvDwvXMTfoVZUE92mqAQf",
      value: "3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe",
    });
  });

  it("of an unclaimed binding equal kcp's", () => {
    expect(reflexiveLabel(TENANCY)).to.deep.equal({
      key: "claimed.internal.apis.kcp.io/bmCdly9xXiUpEHe3ypvDwvXMTfoVZUE92mqAQf",
      value: "LstvmbbzVDDOn90ZbhzSQO5U3DMCf88h1pZ",
    });
  });

  it("of initializers and terminators shorten the hash in the key like kcp", () => {
    const hash = "2eadcbf778956517ec99fd1c1c32a9b13cbae759770fc37c341c7fe8";
    expect(initializerLabel("pluto")).to.deep.equal({
      key: `initializer.internal.kcp.io/${hash.slice(0, 35)}`,
      value: hash,
    });
    expect(terminatorLabel("pluto")).to.deep.equal({
      key: `terminator.internal.kcp.io/${hash.slice(0, 36)}`,
      value: hash,
    });
  });
});

describe("identityHash", () => {
  it("equals kcp's, for a string and for bytes", () => {
    const hash = "cd2eb0837c9b4c962c22d2ff8b5441b7b45805887f051d39bf133b583baf6860";
    expect(identityHash("xxx")).to.equal(hash);
    expect(identityHash(Buffer.from("xxx"))).to.equal(hash);
  });

  it("hashes random keys", () => {
    const key = newIdentityKey();
    expect(key).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(newIdentityKey()).not.to.equal(key);
  });
});

describe("shardHash", () => {
  it("equals kcp's, with a zero for a leading zero byte", () => {
    expect(shardHash("hello")).to.equal("2yfg0ibs");
    expect(shardHash("input50")).to.equal("04xtfzml");
  });
});
