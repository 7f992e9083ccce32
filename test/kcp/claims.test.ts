// Permission claims: their references, granted verbs and selected objects.
import { formatCause } from "@virtual-workspaces/apimachinery";
import type { APIBinding, APIExport } from "@virtual-workspaces/kcp";
import {
  apiBindingProblems,
  apiExportProblems,
  claimKey,
  claimMatches,
  claimSelectorProblems,
  formatClaim,
  grantedVerbs,
  normalizedGroupResource,
  sameClaim,
  verbIsGranted,
} from "@virtual-workspaces/kcp/apis";
import { expect } from "chai";

describe("permission claims", () => {
  it("are equal for the same group, resource and identity", () => {
    const claims = [
      { resource: "configmaps" },
      { group: "a.dev", resource: "configmaps" },
      { group: "a.dev", resource: "configmaps", identityHash: "x" },
      { resource: "secrets", identityHash: "x" },
    ];
    expect(new Set(claims.map(claimKey)).size).to.equal(4);
    expect(sameClaim({ resource: "configmaps" }, { group: "", resource: "configmaps", identityHash: "" })).to.equal(
      true,
    );
    expect(sameClaim({ resource: "configmaps" }, { resource: "configmaps", identityHash: "x" })).to.equal(false);
    expect(claims.map(formatClaim)).to.deep.equal(["configmaps", "configmaps.a.dev", "configmaps.a.dev:x", "secrets"]);
  });

  it("treat events of both groups as those of the core group", () => {
    const events = { group: "", resource: "events" };
    expect(normalizedGroupResource({ group: "events.k8s.io", resource: "events" })).to.deep.equal(events);
    expect(normalizedGroupResource(events)).to.deep.equal(events);
    for (const other of [
      { group: "a.dev", resource: "events" },
      { group: "events.k8s.io", resource: "others" },
    ])
      expect(normalizedGroupResource(other)).to.deep.equal(other);
  });

  it("grant the verbs that both sides list literally", () => {
    const exported = [
      { resource: "configmaps", verbs: ["get", "*"] },
      { resource: "secrets", verbs: ["*"] },
    ];
    const given = (resource: string, verbs: string[], identityHash = "") =>
      grantedVerbs({ resource, verbs, identityHash }, exported);
    expect([...given("configmaps", ["get", "list"])]).to.deep.equal(["get"]);
    expect([...given("secrets", ["get"])]).to.deep.equal([]);
    expect([...given("configmaps", ["get"], "x")]).to.deep.equal([]);
    expect([...given("namespaces", ["*"])]).to.deep.equal([]);
    expect(verbIsGranted("patch", given("secrets", ["*", "get"]))).to.equal(true);
    expect(verbIsGranted("list", given("configmaps", ["get", "list"]))).to.equal(false);
  });

  it("select objects by labels, and none with an invalid selector", () => {
    expect(claimMatches({ matchAll: true }, undefined)).to.equal(true);
    expect(claimMatches({}, { a: "b" })).to.equal(true);
    const both = { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "NotIn", values: ["d"] }] };
    expect(claimMatches(both, { a: "b" })).to.equal(true);
    expect(claimMatches(both, { a: "b", c: "d" })).to.equal(false);
    expect(claimMatches(both, undefined)).to.equal(false);
    expect(claimMatches({ matchExpressions: [{ key: "c", operator: "Sometimes" }] }, { c: "d" })).to.equal(false);
  });

  it("are rejected with a selector of both kinds, or of none", () => {
    const said = (selector: object) => claimSelectorProblems(selector, "s").map(formatCause);
    expect(said({ matchAll: true })).to.deep.equal([]);
    expect(said({ matchLabels: { a: "b" } })).to.deep.equal([]);
    for (const none of [{}, { matchAll: false }, { matchLabels: {}, matchExpressions: [] }])
      expect(said(none)).to.deep.equal([
        "s: Required value: either one of matchAll, matchLabels, or matchExpressions must be set",
      ]);
    const all = { matchAll: true, matchLabels: { a: "b" }, matchExpressions: [{ key: "a", operator: "Exists" }] };
    expect(said(all).map((text) => text.replace(/\{.*\}/, "…"))).to.deep.equal([
      "s.matchLabels: Invalid value: …: matchLabels cannot be used with matchAll",
      "s.matchExpressions: Invalid value: …: matchExpressions cannot be used with matchAll",
    ]);
  });

  it("of exports need an identity, except for resources that every workspace has", () => {
    const claim = (group: string, resource: string, identityHash = "") => ({
      group,
      resource,
      identityHash,
      verbs: ["*"],
    });
    const object: APIExport = {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "a" },
      spec: {
        permissionClaims: [
          claim("", "configmaps"),
          claim("apis.kcp.io", "apibindings"),
          claim("a.dev", "b"),
          claim("a.dev", "c", "x"),
        ],
        resources: [
          { group: "", name: "gears", schema: "v1.gears.core" },
          { group: "a.dev", name: "cogs", schema: "v1.cogs.b.dev" },
        ],
      },
    };
    expect(apiExportProblems(object, ({ group }) => group === "").map(formatCause)).to.deep.equal([
      'spec.permissionClaims[2].identityHash: Invalid value: "": identityHash is required for API types that are not built-in',
      'spec.resources[1].schema: Invalid value: "v1.cogs.b.dev": must end in .cogs.a.dev',
    ]);
  });

  it("of bindings need a selector, and a bound binding stays bound", () => {
    const before: APIBinding = {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: "a" },
      spec: {
        reference: {},
        permissionClaims: [
          { group: "", resource: "configmaps", identityHash: "", verbs: ["*"], selector: {}, state: "Accepted" },
        ],
      },
      status: { phase: "Bound" },
    };
    const said = (binding: APIBinding, was?: APIBinding) => apiBindingProblems(binding, was).map(formatCause);
    expect(said(before)).to.deep.equal([
      "spec.reference.export: Required value",
      "spec.permissionClaims[0].selector: Required value: either one of matchAll, matchLabels, or matchExpressions must be set",
    ]);
    const unbound = { ...before, spec: { reference: { export: { name: "" } } }, status: {} };
    expect(said(unbound, before)).to.deep.equal([
      "spec.reference.export.name: Required value",
      'status.phase: Forbidden: cannot transition from "Bound" to ""',
    ]);
  });
});
