import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";

function twoShards(): PathIndex {
  const index = new PathIndex();
  index.setShard("root", { baseURL: "https://root.io" });
  index.setShard("amber", { baseURL: "https://amber.io" });
  index.setLogicalCluster("root", { name: "root", path: "root" });
  index.setWorkspace("root", { cluster: "root", name: "org", target: "34" });
  index.setWorkspace("root", { cluster: "root", name: "org1", target: "43" });
  index.setLogicalCluster("root", { name: "34" });
  index.setLogicalCluster("amber", { name: "43" });
  return index;
}

const clusterOf = (index: PathIndex, path: string): string => {
  const found = index.lookup(path);
  return found.kind === "cluster" ? `${found.cluster}@${found.shard}` : found.kind;
};

describe("PathIndex after changes", () => {
  it("forgets a deleted shard with its objects, and nothing else", () => {
    const index = twoShards();
    index.deleteShard("none");
    index.deleteShard("amber");
    expect(clusterOf(index, "root:org1"), "the shard may be back").to.equal("pending");
    expect(clusterOf(index, "root:org")).to.equal("34@root");
    expect(index.shard("amber")).to.equal(undefined);
    index.deleteShard("root");
    index.setLogicalCluster("amber", { name: "root" });
    index.setShard("amber", { baseURL: "https://amber.io" });
    expect(clusterOf(index, "root:org"), "its workspaces are gone").to.equal("unknown");
    expect(clusterOf(index, "root")).to.equal("root@amber");
  });

  it("returns the new URL of a shard", () => {
    const index = twoShards();
    index.setShard("root", { baseURL: "https://new-root.io" });
    expect(index.lookup("root:org")).to.deep.include({ baseURL: "https://new-root.io", cluster: "34" });
    expect(index.shard("root")).to.deep.equal({ baseURL: "https://new-root.io", virtualWorkspaceURL: undefined });
  });

  it("forgets a deleted workspace, and still finds its logical cluster by name", () => {
    const index = twoShards();
    index.deleteWorkspace("root", { cluster: "root", name: "org" });
    index.deleteWorkspace("root", { cluster: "root", name: "none" });
    index.deleteWorkspace("amber", { cluster: "root", name: "org1" });
    expect(clusterOf(index, "root:org")).to.equal("gone");
    expect(clusterOf(index, "root:none")).to.equal("unknown");
    expect(clusterOf(index, "34")).to.equal("34@root");
    expect(clusterOf(index, "root:org1")).to.equal("43@amber");
  });

  it("finds nothing below a deleted logical cluster, and everything when it returns", () => {
    const index = twoShards();
    index.deleteLogicalCluster("amber", "34");
    index.deleteLogicalCluster("root", "none");
    expect(clusterOf(index, "root:org")).to.equal("34@root");
    index.deleteLogicalCluster("root", "root");
    expect(clusterOf(index, "root:org")).to.equal("gone");
    index.setLogicalCluster("root", { name: "root" });
    expect(clusterOf(index, "root:org")).to.equal("34@root");
  });

  it("finds a recreated workspace, in whatever order its logical cluster appears", () => {
    const index = twoShards();
    index.deleteWorkspace("root", { cluster: "root", name: "org" });
    index.setLogicalCluster("amber", { name: "44", path: "root:org" });
    index.setWorkspace("root", { cluster: "root", name: "org", target: "44" });
    index.deleteLogicalCluster("root", "34");
    expect(clusterOf(index, "root:org")).to.equal("44@amber");
    index.setWorkspace("root", { cluster: "root", name: "org", target: "55" });
    expect(clusterOf(index, "root:org")).to.equal("pending");
    index.setLogicalCluster("root", { name: "55" });
    expect(clusterOf(index, "root:org")).to.equal("55@root");
    expect(index.workspaceOf("44")).to.equal(undefined);
  });

  it("prefers the first by name of two shards with a logical cluster, and the other after a deletion", () => {
    for (const order of [
      ["root", "amber"],
      ["amber", "root"],
    ]) {
      const index = twoShards();
      for (const shard of order) index.setLogicalCluster(shard, { name: "moving", type: `root:${shard}` });
      expect(index.lookup("moving")).to.deep.include({ shard: "amber", type: "root:amber" });
      expect([index.logicalClusters("root"), index.logicalClusters("amber")]).to.deep.equal([3, 2]);
      index.deleteLogicalCluster("amber", "moving");
      expect(index.lookup("moving")).to.deep.include({ shard: "root", type: "root:root" });
    }
  });
});

describe("PathIndex.pathOf", () => {
  it("returns the path that the shard reports, else that of the workspaces", () => {
    const index = twoShards();
    expect(index.pathOf("34")).to.equal("root:org");
    index.setLogicalCluster("root", { name: "34", path: "root:old-name" });
    expect(index.pathOf("34")).to.equal("root:old-name");
    index.setWorkspace("root", { cluster: "34", name: "team", target: "43" });
    index.deleteWorkspace("root", { cluster: "root", name: "org1" });
    expect(index.pathOf("43")).to.equal("root:old-name:team");
    index.deleteWorkspace("root", { cluster: "34", name: "team" });
    expect(index.pathOf("43")).to.equal("43");
    expect(index.pathOf("none")).to.equal(undefined);
    index.setWorkspace("root", { cluster: "34", name: "team", target: "none" });
    expect(index.pathOf("none"), "on no shard").to.equal(undefined);
  });

  it("returns the names of logical clusters whose workspaces form a cycle", () => {
    const index = twoShards();
    for (const name of ["a", "b", "c", "d"]) index.setLogicalCluster("root", { name });
    index.setWorkspace("root", { cluster: "a", name: "x", target: "b" });
    index.setWorkspace("root", { cluster: "b", name: "y", target: "c" });
    index.setWorkspace("root", { cluster: "c", name: "z", target: "a" });
    index.setWorkspace("root", { cluster: "c", name: "off", target: "d" });
    expect(["a", "b", "c", "d"].map((name) => index.pathOf(name))).to.deep.equal(["a", "b", "c", "d"]);
    expect(index.lookup("a:x:y:z:x")).to.deep.include({ cluster: "b", path: "b" });
  });

  it("is fast for ten thousand nested workspaces", () => {
    const index = twoShards();
    for (let depth = 0; depth < 10_000; depth++) {
      index.setLogicalCluster("root", { name: `c${depth}` });
      index.setWorkspace("root", { cluster: `c${depth}`, name: "in", target: `c${depth + 1}` });
    }
    expect(index.pathOf("c9999")).to.equal(`c0${":in".repeat(9999)}`);
  });
});

describe("PathIndex.workspaceOf", () => {
  it("returns the workspace object and its logical cluster", () => {
    const index = twoShards();
    expect(index.workspaceOf("43")).to.deep.equal({ cluster: "root", name: "org1", shard: "root" });
    expect(index.shardOf("43")).to.equal("amber");
    expect(index.workspaceOf("root")).to.equal(undefined);
    expect(index.shardOf("none")).to.equal(undefined);
  });

  it("returns the first by name of several workspaces that count", () => {
    const index = twoShards();
    index.setWorkspace("root", { cluster: "root", name: "zzz", target: "43" });
    index.setWorkspace("amber", { cluster: "root", name: "aaa", target: "43" });
    index.setWorkspace("root", { cluster: "34", name: "in", target: "43", phase: "Unavailable" });
    expect(index.workspaceOf("43")).to.deep.include({ cluster: "34", name: "in" });
    index.deleteWorkspace("root", { cluster: "34", name: "in" });
    expect(index.workspaceOf("43")).to.deep.include({ cluster: "root", name: "org1" });
    index.deleteWorkspace("root", { cluster: "root", name: "org1" });
    expect(index.workspaceOf("43")).to.deep.include({ cluster: "root", name: "zzz" });
  });

  it("is as fast with many workspaces for one logical cluster", () => {
    const index = twoShards();
    const key = (n: number) => ({ cluster: "root", name: `n${n}` });
    for (let n = 0; n < 50_000; n++) index.setWorkspace("root", { ...key(n), target: "43" });
    for (let n = 0; n < 50_000; n++) index.deleteWorkspace("root", key(n));
    expect(index.workspaceOf("43")).to.deep.include({ name: "org1" });
  });
});
