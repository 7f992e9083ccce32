import { indexedLogicalCluster, indexedWorkspace } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";

const base = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace" };
const metadata = { name: "org", annotations: { "kcp.io/cluster": "root" } };

describe("indexedWorkspace", () => {
  it("reads a workspace", () => {
    const spec = { cluster: "2x3y4z", URL: "https://kcp/clusters/root:org", type: { name: "universal" } };
    expect(indexedWorkspace({ ...base, metadata, spec, status: { phase: "Ready" } })).to.deep.equal({
      cluster: "root",
      name: "org",
      target: "2x3y4z",
      mountURL: undefined,
      phase: "Ready",
    });
  });

  it("reads a mount", () => {
    const spec = { mount: { ref: { apiVersion: "v1", kind: "Cluster", name: "c" } }, URL: "https://far/away" };
    expect(indexedWorkspace({ ...base, metadata, spec })).to.deep.include({
      target: undefined,
      mountURL: "https://far/away",
    });
  });

  for (const odd of [undefined, null, 1, [], "x", { cluster: 1, mount: [], URL: {} }])
    it(`ignores ${JSON.stringify(odd)} as spec and status`, () => {
      expect(indexedWorkspace({ ...base, metadata, spec: odd, status: odd })).to.deep.equal({
        cluster: "root",
        name: "org",
        target: undefined,
        mountURL: undefined,
        phase: undefined,
      });
    });

  it("returns nothing for an object without a logical cluster", () => {
    expect(indexedWorkspace({ ...base, metadata: { name: "org" } })).to.equal(undefined);
    expect(indexedWorkspace({ ...base, metadata: { ...metadata, name: "" } })).to.equal(undefined);
  });
});

describe("indexedLogicalCluster", () => {
  const object = { apiVersion: "core.kcp.io/v1alpha1", kind: "LogicalCluster" };

  it("reads a logical cluster's annotations", () => {
    const annotations = {
      "kcp.io/cluster": "2x3y4z",
      "kcp.io/path": "root:org",
      "internal.tenancy.kcp.io/type": "root:universal",
    };
    expect(indexedLogicalCluster({ ...object, metadata: { name: "cluster", annotations } })).to.deep.equal({
      name: "2x3y4z",
      path: "root:org",
      type: "root:universal",
    });
  });

  it("returns nothing for an object without a logical cluster", () => {
    expect(indexedLogicalCluster({ ...object, metadata: { name: "cluster" } })).to.equal(undefined);
  });
});
