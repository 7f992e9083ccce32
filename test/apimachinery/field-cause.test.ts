import {
  ApiError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  forbiddenFor,
  formatCause,
  formatCauses,
} from "@virtual-workspaces/apimachinery";
import { expect } from "chai";

describe("causes", () => {
  it("print as Kubernetes' field errors", () => {
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

  it("print without what is not there", () => {
    expect(formatCause({ message: "m" })).to.equal("m");
    expect(formatCause(fieldNotSupported("e", "f", []))).to.equal('e: Unsupported value: "f"');
    expect(formatCause(fieldInvalid("e", undefined, ""))).to.equal("e: Invalid value: null");
  });

  it("print as one, or in brackets, and repeated ones once", () => {
    const [a, b] = [fieldRequired("a"), fieldRequired("b")];
    expect(formatCauses([a])).to.equal("a: Required value");
    expect(formatCauses([a, a])).to.equal("a: Required value");
    expect(formatCauses([a, b])).to.equal("[a: Required value, b: Required value]");
  });

  it("are in the Status and in its message", () => {
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

  it("says who cannot do what, at the cluster scope", () => {
    const error = forbiddenFor({ user: "u", verb: "get", resource, name: "x" });
    expect(error.code).to.equal(403);
    expect(error.message).to.equal(
      'quotes.example.dev "x" is forbidden: User "u" cannot get resource "quotes" in API group "example.dev" at the cluster scope',
    );
    expect(error.status.details).to.deep.equal({ name: "x", group: "example.dev", kind: "quotes" });
  });

  it("says the namespace, the subresource and the reason", () => {
    const request = { user: "u", verb: "update", resource: { group: "", resource: "pods" }, namespace: "ns" };
    expect(forbiddenFor({ ...request, subresource: "status", reason: "because <x>" }).message).to.equal(
      'pods is forbidden: User "u" cannot update resource "pods/status" in API group "" in the namespace "ns": because <x>',
    );
  });

  it("says the path when the request is about no resource", () => {
    expect(forbiddenFor({ user: "u", verb: "get", path: "/metrics" }).message).to.equal(
      'forbidden: User "u" cannot get path "/metrics"',
    );
  });

  it("lets no markup, quote or new line of the client's through", () => {
    expect(forbiddenFor({ user: '<b>&"\n', verb: "get", path: "/<x>" }).message).to.equal(
      'forbidden: User "&lt;b&gt;&amp;\\"\\n" cannot get path "/&lt;x&gt;"',
    );
  });
});
