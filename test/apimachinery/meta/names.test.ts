import {
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  pluralOf,
} from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import fc from "fast-check";
import { computed } from "../../_support/cpu.ts";

const QUALIFIED =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

type Rule = (text: string) => string[];

function accepts(rule: Rule, texts: readonly string[]): void {
  for (const text of texts) it(`accepts ${show(text)}`, () => expect(rule(text)).to.deep.equal([]));
}

function refuses(rule: Rule, texts: readonly string[]): void {
  for (const text of texts) it(`rejects ${show(text)}`, () => expect(rule(text)).not.to.deep.equal([]));
}

function show(text: string): string {
  return text.length > 40 ? `${JSON.stringify(text.slice(0, 8))} and so on, ${text.length} long` : JSON.stringify(text);
}

describe("nameProblems", () => {
  accepts(nameProblems, ["a", "ab", "abc-123", "a.b.c", "0", "0.1.2", "a-1.b-2", "a".repeat(253)]);
  refuses(nameProblems, [
    "",
    "A",
    "a_b",
    "-a",
    "a-",
    ".",
    "a.",
    ".a",
    "a..b",
    "a.-b",
    "a b",
    "a\n",
    "é",
    "a".repeat(254),
  ]);

  it("answers like Kubernetes", () => {
    expect(nameProblems("A")).to.deep.equal([
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${LABEL}(\\.${LABEL})*')`,
    ]);
    expect(nameProblems("a".repeat(254))).to.deep.equal(["must be no more than 253 characters"]);
  });

  it("judges a long hostile name quickly", () => {
    const started = computed();
    expect(nameProblems(`${"a-".repeat(500_000)}!`)).to.have.length(2);
    expect(computed() - started).to.be.below(1000);
  });
});

describe("dnsLabelProblems", () => {
  accepts(dnsLabelProblems, ["a", "a-1", "1-a", "a".repeat(63)]);
  refuses(dnsLabelProblems, ["", "A", "-a", "a-", "a_b", "a".repeat(64)]);

  it("answers like Kubernetes", () => {
    expect(dnsLabelProblems("a.b")).to.deep.equal(["must not contain dots"]);
    expect(dnsLabelProblems("a".repeat(64))).to.deep.equal(["must be no more than 63 characters"]);
    expect(dnsLabelProblems("_")).to.deep.equal([
      `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`,
    ]);
  });
});

describe("pathSegmentProblems", () => {
  accepts(pathSegmentProblems, ["a", "A:b@c", "...", "a b", "é"]);

  it("answers like Kubernetes", () => {
    expect(pathSegmentProblems(".")).to.deep.equal(["may not be '.'"]);
    expect(pathSegmentProblems("..")).to.deep.equal(["may not be '..'"]);
    expect(pathSegmentProblems("a/b%c")).to.deep.equal(["may not contain '/'", "may not contain '%'"]);
  });
});

describe("labelKeyProblems", () => {
  accepts(labelKeyProblems, ["a", "A.b_c-d", "example.com/a", "1.2/3", `${"a".repeat(253)}/${"b".repeat(63)}`]);
  refuses(labelKeyProblems, ["", "/", "a/", "/a", "A/b", "a b", "-a", "a-", "a".repeat(64), `${"a".repeat(254)}/b`]);

  it("answers like Kubernetes", () => {
    expect(labelKeyProblems("a/b/c")).to.deep.equal([
      `a valid label key ${QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]);
    expect(labelKeyProblems("/")).to.deep.equal([
      "prefix part must be non-empty",
      "name part must be non-empty",
      `name part ${QUALIFIED}`,
    ]);
    expect(labelKeyProblems("a".repeat(64))).to.deep.equal(["name part must be no more than 63 bytes"]);
  });
});

describe("labelValueProblems", () => {
  accepts(labelValueProblems, ["", "a", "A.b_c-d", "1", "a".repeat(63)]);
  refuses(labelValueProblems, ["-", "a-", "a/b", "a b", "a,b", "é", "a".repeat(64)]);

  it("accepts every qualified name without a prefix", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 70 }), (text) => {
        fc.pre(!text.includes("/"));
        expect(labelValueProblems(text).length === 0).to.equal(labelKeyProblems(text).length === 0);
      }),
    );
  });
});

describe("pluralOf", () => {
  const plurals = {
    Pod: "pods",
    Ingress: "ingresses",
    NetworkPolicy: "networkpolicies",
    Endpoints: "endpoints",
    Key: "keies", // As Kubernetes guesses.
    APIExport: "apiexports",
    "": "",
  };
  for (const [kind, plural] of Object.entries(plurals)) {
    it(`returns ${plural} for ${JSON.stringify(kind)}`, () => expect(pluralOf(kind)).to.equal(plural));
  }
});
