import { ApiError } from "@virtual-workspaces/apimachinery";
import { type ListOptions, parseListOptions, withListDefaults } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";
import fc from "fast-check";

function parse(query: string): ListOptions {
  return parseListOptions(new URLSearchParams(query));
}

/** Returns the options of a query without the selectors and the booleans that are always set. */
function rest(query: string): Omit<ListOptions, "labelSelector" | "fieldSelector" | "watch" | "allowWatchBookmarks"> {
  const { labelSelector: _l, fieldSelector: _f, watch: _w, allowWatchBookmarks: _a, ...others } = parse(query);
  return others;
}

describe("parseListOptions", () => {
  it("selects everything, and sets nothing, for an empty query", () => {
    const options = parse("");
    expect(options).to.include({ watch: false, allowWatchBookmarks: false });
    expect(options.labelSelector.empty && options.fieldSelector.empty).to.equal(true);
    expect(rest("")).to.deep.equal({});
  });

  it("accepts the queries of clients", () => {
    const options = parse(
      "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=500&continue=tok&timeoutSeconds=30",
    );
    expect(options.labelSelector.toString()).to.equal("a=b");
    expect(options.fieldSelector.toString()).to.equal("metadata.name=x");
    expect(options).to.include({ limit: 500, continue: "tok", timeoutSeconds: 30 });
    expect(rest("resourceVersion=12&resourceVersionMatch=Exact&sendInitialEvents=false")).to.deep.equal({
      resourceVersion: "12",
      resourceVersionMatch: "Exact",
      sendInitialEvents: false,
    });
  });

  it("leaves out empty values, and limits that are no limit", () => {
    expect(rest("continue=&resourceVersion=&resourceVersionMatch=&limit=0")).to.deep.equal({});
    expect(rest("limit=-5")).to.deep.equal({});
  });

  it("ignores unknown parameters, and uses the first of repeated ones", () => {
    expect(rest("pretty=true&x=y&limit=1&limit=2")).to.deep.equal({ limit: 1 });
  });

  const booleans = { "": true, "1": true, true: true, x: true, "0": false, false: false, FALSE: false };
  for (const [text, expected] of Object.entries(booleans)) {
    it(`parses the boolean ${JSON.stringify(text)} as ${expected}`, () => {
      const options = parse(`watch=${text}&allowWatchBookmarks=${text}&sendInitialEvents=${text}`);
      expect(options).to.include({ watch: expected, allowWatchBookmarks: expected, sendInitialEvents: expected });
    });
  }

  it("drops leading zeros of a resource version, like a number", () => {
    expect(parse("resourceVersion=007").resourceVersion).to.equal("7");
    expect(parse("resourceVersion=000").resourceVersion).to.equal("0");
    expect(parse("resourceVersion=18446744073709551615").resourceVersion).to.equal("18446744073709551615");
  });

  it("cuts a huge number to a safe one", () => {
    expect(parse("limit=9223372036854775807").limit).to.equal(Number.MAX_SAFE_INTEGER);
    expect(parse("timeoutSeconds=-9223372036854775808").timeoutSeconds).to.equal(Number.MIN_SAFE_INTEGER);
  });

  const refused = {
    "limit=abc": 'strconv.ParseInt: parsing "abc": invalid syntax',
    "limit=": 'strconv.ParseInt: parsing "": invalid syntax',
    "limit=1.5": 'strconv.ParseInt: parsing "1.5": invalid syntax',
    "timeoutSeconds=1e3": 'strconv.ParseInt: parsing "1e3": invalid syntax',
    "limit=9223372036854775808": 'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    "labelSelector=a+b": "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    "fieldSelector=a": "invalid selector: 'a'; can't understand 'a'",
    "resourceVersion=abc":
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    "resourceVersion=-1":
      'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    "resourceVersion=18446744073709551616":
      'invalid resource version: resourceVersion: Invalid value: "18446744073709551616": strconv.ParseUint: parsing "18446744073709551616": value out of range',
  };
  for (const [query, message] of Object.entries(refused)) {
    it(`rejects ${query}`, () => {
      expect(() => parse(query))
        .to.throw(ApiError)
        .with.property("message", message);
      expect(() => parse(query))
        .to.throw(ApiError)
        .with.property("code", 400);
    });
  }

  it("parses any query, or rejects it with a 400", () => {
    const name = fc.constantFrom("limit", "continue", "resourceVersion", "timeoutSeconds", "labelSelector", "watch");
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.oneof(fc.string(), fc.bigInt().map(String)))), (pairs) => {
        try {
          parseListOptions(new URLSearchParams(pairs));
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError).with.property("code", 400);
        }
      }),
    );
  });
});

describe("withListDefaults", () => {
  const initial = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };

  for (const query of ["watch=1", "watch=1&resourceVersion=0", "watch=1&resourceVersion="]) {
    it(`makes ${query} begin with the present objects`, () => {
      expect(withListDefaults(parse(query))).to.include(initial);
    });
  }

  for (const query of [
    "",
    "resourceVersion=0",
    "watch=1&resourceVersion=12",
    "watch=1&sendInitialEvents=false",
    "watch=1&resourceVersionMatch=NotOlderThan",
  ]) {
    it(`does not change ${query === "" ? "a list" : query}`, () => {
      const options = parse(query);
      expect(withListDefaults(options)).to.equal(options);
    });
  }
});
