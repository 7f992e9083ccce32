import { ApiError } from "@virtual-workspaces/apimachinery";
import { parseListOptions, validateListOptions } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";

function validate(query: string, isWatch: boolean): void {
  validateListOptions(parseListOptions(new URLSearchParams(query)), { isWatch });
}

/** Returns the causes, as `field: message`. */
function causes(query: string, isWatch: boolean): string[] {
  try {
    validate(query, isWatch);
    return [];
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError).with.property("code", 422);
    return (error as ApiError).status.details?.causes?.map(({ field, message }) => `${field}: ${message}`) ?? [];
  }
}

const MATCH = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden";
const unsupported = (supported: string): string =>
  `resourceVersionMatch: Unsupported value: "Foo": supported values: ${supported}`;

const lists: Record<string, string[]> = {
  "": [],
  "resourceVersion=0": [],
  "resourceVersion=1&limit=5": [],
  "continue=t": [],
  "continue=t&limit=5": [],
  "resourceVersion=1&resourceVersionMatch=Exact": [],
  "resourceVersion=1&resourceVersionMatch=NotOlderThan": [],
  "resourceVersion=0&resourceVersionMatch=NotOlderThan": [],
  "resourceVersionMatch=Exact": [`${MATCH} unless resourceVersion is provided`],
  "resourceVersionMatch=NotOlderThan": [`${MATCH} unless resourceVersion is provided`],
  "resourceVersion=1&resourceVersionMatch=Exact&continue=t": [`${MATCH} when continue is provided`],
  "resourceVersion=0&resourceVersionMatch=Exact": [
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  "resourceVersion=1&resourceVersionMatch=Foo": [unsupported('"Exact", "NotOlderThan", ""')],
  "sendInitialEvents=true": ["sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
  "sendInitialEvents=false": ["sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
  "resourceVersionMatch=Foo&continue=t": [
    `${MATCH} unless resourceVersion is provided`,
    `${MATCH} when continue is provided`,
    unsupported('"Exact", "NotOlderThan", ""'),
  ],
};

const REQUIRES =
  "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";

const watches: Record<string, string[]> = {
  "": [],
  "resourceVersion=1": [],
  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan": [],
  "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=1": [],
  "sendInitialEvents=true": [REQUIRES],
  "sendInitialEvents=false": [REQUIRES],
  "sendInitialEvents=true&resourceVersionMatch=Exact": [
    REQUIRES,
    'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"',
  ],
  "resourceVersionMatch=NotOlderThan": [`${MATCH} for watch unless sendInitialEvents is provided`],
  "resourceVersionMatch=Foo&continue=t": [
    `${MATCH} for watch unless sendInitialEvents is provided`,
    unsupported('"NotOlderThan"'),
    `${MATCH} when continue is provided`,
  ],
};

describe("validateListOptions", () => {
  for (const [query, expected] of Object.entries(lists)) {
    it(`checks a list with ${query === "" ? "nothing" : query}`, () =>
      expect(causes(query, false)).to.deep.equal(expected));
  }
  for (const [query, expected] of Object.entries(watches)) {
    it(`checks a watch with ${query === "" ? "nothing" : query}`, () =>
      expect(causes(query, true)).to.deep.equal(expected));
  }

  it("names invalid values as Kubernetes does", () => {
    expect(() => validate("sendInitialEvents=true", false)).to.throw(
      ApiError,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    );
  });
});
