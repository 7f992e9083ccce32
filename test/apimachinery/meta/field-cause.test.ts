import {
  ApiError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
  forbiddenFor,
  formatCause,
  formatCauses,
  OMITTED_VALUE,
} from "@virtual-workspaces/apimachinery";
import { expect } from "chai";

describe("field causes", () => {
  it("print like Kubernetes' field errors", () => {
    expect(formatCause(fieldInvalid("spec.a", "v\n", "too odd"))).to.equal('spec.a: Invalid value: "v\\n": too odd');
    expect(formatCause(fieldInvalid("n", 5, "d"))).to.equal("n: Invalid value: 5: d");
    expect(formatCause(fieldInvalid("l", ["x"], "d"))).to.equal('l: Invalid value: ["x"]: d');
    expect(formatCause(fieldRequired("spec.b"))).to.equal("spec.b: Required value");
    expect(formatCause(fieldRequired("spec.b", "say it"))).to.equal("spec.b: Required value: say it");
    expect(formatCause(fieldForbidden("c", "not here"))).to.equal("c: Forbidden: not here");
    expect(formatCause(fieldNotSupported("e", "f", ["g", ""]))).to.equal(
      'e: Unsupported value: "f": supported values: "g", ""',
    );
  });

  it("print values like Go", () => {
    const printed = (value: unknown): string | undefined => fieldInvalid("f", value, "d").message;
    expect(printed(1_000_000)).to.equal("Invalid value: 1000000: d");
    expect(printed(9_007_199_254_740_993n)).to.equal("Invalid value: 9007199254740993: d");
    expect(printed(1e21)).to.equal("Invalid value: 1e+21: d");
    expect(printed(1234567.5)).to.equal("Invalid value: 1.2345675e+06: d");
    expect(printed(0.00001)).to.equal("Invalid value: 1e-05: d");
    expect(printed(-0)).to.equal("Invalid value: 0: d");
    expect(printed(true)).to.equal("Invalid value: true: d");
    expect(printed({ b: "<&>\u2028", a: [null, 1n, 1e-7], "\u{1f600}": 1, "\ufffd": 2 })).to.equal(
      'Invalid value: {"a":[null,1,1e-7],"b":"\\u003c\\u0026\\u003e\\u2028","\ufffd":2,"\u{1f600}":1}: d',
    );
    expect(printed(OMITTED_VALUE)).to.equal("Invalid value: d");
  });

  it("have the kinds that schemas need", () => {
    expect(fieldTypeInvalid("f", "string", "d")).to.deep.equal({
      reason: "FieldValueTypeInvalid",
      message: 'Invalid value: "string": d',
      field: "f",
    });
    expect(formatCause(fieldDuplicate("f", { a: 1 }))).to.equal('f: Duplicate value: {"a":1}');
    expect(formatCause(fieldTooLong("f", 1))).to.equal("f: Too long: may not be more than 1 byte");
    expect(formatCause(fieldTooLong("f", 2))).to.equal("f: Too long: may not be more than 2 bytes");
    expect(formatCause(fieldTooMany("f", 3, 1))).to.equal("f: Too many: 3: must have at most 1 item");
    expect(formatCause(fieldTooMany("f", 3, 2))).to.equal("f: Too many: 3: must have at most 2 items");
  });

  it("print without absent parts", () => {
    expect(formatCause({ message: "m" })).to.equal("m");
    expect(formatCause(fieldNotSupported("e", "f", []))).to.equal('e: Unsupported value: "f"');
    expect(formatCause(fieldInvalid("e", undefined, ""))).to.equal("e: Invalid value: null");
  });

  it("print a single cause plain, several in brackets, and repeated ones once", () => {
    const [a, b] = [fieldRequired("a"), fieldRequired("b")];
    expect(formatCauses([a])).to.equal("a: Required value");
    expect(formatCauses([a, a])).to.equal("a: Required value");
    expect(formatCauses([a, b])).to.equal("[a: Required value, b: Required value]");
  });

  it("appear in the Status and in its message", () => {
    const causes = [fieldRequired("spec.a"), fieldInvalid("spec.b", 1, "too small")];
    const error = ApiError.invalid({ kind: { group: "example.dev", kind: "Quote" }, name: "x", causes });
    expect(error.message).to.equal(
      'Quote.example.dev "x" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: too small]',
    );
    expect(error.status.details?.causes).to.deep.equal([
      { reason: "FieldValueRequired", message: "Required value", field: "spec.a" },
      { reason: "FieldValueInvalid", message: "Invalid value: 1: too small", field: "spec.b" },
    ]);
  });
});

describe("forbiddenFor", () => {
  const resource = { group: "example.dev", resource: "quotes" };

  it("names the user, verb and resource, at the cluster scope", () => {
    const error = forbiddenFor({ user: "u", verb: "get", resource, name: "x" });
    expect(error.code).to.equal(403);
    expect(error.message).to.equal(
      'quotes.example.dev "x" is forbidden: User "u" cannot get resource "quotes" in API group "example.dev" at the cluster scope',
    );
    expect(error.status.details).to.deep.equal({ name: "x", group: "example.dev", kind: "quotes" });
  });

  it("names the namespace, the subresource and the reason", () => {
    const request = { user: "u", verb: "update", resource: { group: "", resource: "pods" }, namespace: "ns" };
    expect(forbiddenFor({ ...request, subresource: "status", reason: "because <x>" }).message).to.equal(
      'pods is forbidden: User "u" cannot update resource "pods/status" in API group "" in the namespace "ns": because <x>',
    );
  });

  it("names the path of a non-resource request", () => {
    expect(forbiddenFor({ user: "u", verb: "get", path: "/metrics" }).message).to.equal(
      'forbidden: User "u" cannot get path "/metrics"',
    );
  });

  it("escapes markup, quotes and new lines of the client", () => {
    expect(forbiddenFor({ user: '<b>&"\n', verb: "get", path: "/<x>" }).message).to.equal(
      'forbidden: User "&lt;b&gt;&amp;\\"\\n" cannot get path "/&lt;x&gt;"',
    );
  });
});
