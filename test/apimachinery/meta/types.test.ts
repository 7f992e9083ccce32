import {
  ApiError,
  apiVersionOf,
  formatGroupKind,
  formatGroupResource,
  parseApiVersion,
} from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import fc from "fast-check";

describe("apiVersion", () => {
  it("has a group and a version, or only a version for the core group", () => {
    expect(parseApiVersion("apps/v1")).to.deep.equal({ group: "apps", version: "v1" });
    expect(parseApiVersion("v1")).to.deep.equal({ group: "", version: "v1" });
    expect(parseApiVersion("")).to.deep.equal({ group: "", version: "" });
    expect(parseApiVersion("/")).to.deep.equal({ group: "", version: "" });
    expect(apiVersionOf({ group: "", version: "v1" })).to.equal("v1");
    expect(apiVersionOf({ group: "apps", version: "v1" })).to.equal("apps/v1");
  });

  it("with two slashes is a bad request", () => {
    expect(() => parseApiVersion("a/b/c"))
      .to.throw(ApiError, "unexpected GroupVersion string: a/b/c")
      .with.property("code", 400);
  });

  it("round-trips through its text", () => {
    const part = fc.stringMatching(/^[a-z][a-z0-9.]*$/);
    fc.assert(
      fc.property(fc.option(part, { nil: "" }), part, (group, version) => {
        expect(parseApiVersion(apiVersionOf({ group, version }))).to.deep.equal({ group, version });
      }),
    );
  });
});

describe("a qualified name in messages", () => {
  it("ends with the group, unless it is the core group", () => {
    expect(formatGroupResource({ group: "example.dev", resource: "quotes" })).to.equal("quotes.example.dev");
    expect(formatGroupResource({ group: "", resource: "pods" })).to.equal("pods");
    expect(formatGroupKind({ group: "example.dev", kind: "Quote" })).to.equal("Quote.example.dev");
    expect(formatGroupKind({ group: "", kind: "Pod" })).to.equal("Pod");
  });
});
