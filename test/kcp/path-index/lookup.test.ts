import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";

const MOUNT = "https://kcp.dev.local/services/custom-url/proxy";

/** Returns an index with `root:org:rh`, each segment on a shard of its own. */
function threeShards(): PathIndex {
  const index = new PathIndex();
  index.setShard("root", { baseURL: "https://root.kcp.dev" });
  index.setShard("beta", { baseURL: "https://beta.kcp.dev", virtualWorkspaceURL: "https://beta.kcp.dev/vw" });
  index.setShard("gama", { baseURL: "https://gama.kcp.dev" });
  index.setLogicalCluster("root", { name: "root", path: "root", type: "root:root" });
  index.setWorkspace("root", { cluster: "root", name: "org", target: "one", phase: "Ready" });
  index.setLogicalCluster("beta", { name: "one", path: "root:org", type: "root:organization" });
  index.setWorkspace("beta", { cluster: "one", name: "rh", target: "two" });
  index.setLogicalCluster("gama", { name: "two" });
  return index;
}

const clusterOf = (index: PathIndex, path: string): string => {
  const found = index.lookup(path);
  return found.kind === "cluster" ? `${found.cluster}@${found.shard}` : found.kind;
};

describe("PathIndex.lookup", () => {
  it("finds nothing in an empty index", () => {
    for (const path of ["", "root", "root:org", "*", "user:alice", "system:admin"])
      expect(new PathIndex().lookup(path).kind).to.equal("unknown");
  });

  it("follows a path from shard to shard", () => {
    const index = threeShards();
    expect(index.lookup("root:org")).to.deep.equal({
      kind: "cluster",
      cluster: "one",
      shard: "beta",
      baseURL: "https://beta.kcp.dev",
      virtualWorkspaceURL: "https://beta.kcp.dev/vw",
      path: "root:org",
      type: "root:organization",
    });
    expect(index.lookup("root:org:rh")).to.deep.include({ cluster: "two", shard: "gama", path: "root:org:rh" });
  });

  it("starts at the name of any logical cluster", () => {
    const index = threeShards();
    expect(index.lookup("one:rh")).to.deep.include({ cluster: "two", path: "root:org:rh" });
    expect(index.lookup("two")).to.deep.include({ cluster: "two", path: "root:org:rh" });
  });

  for (const path of [
    "org",
    "root:one",
    "root:one:rh",
    "does-not-exist:rh",
    "root:org:",
    ":root",
    "root::org",
    "root:org:rh:",
    "root:org/rh",
    "Root",
    "__proto__",
    "root:constructor",
    "user",
    "user:",
    "user::org",
    `root${":org".repeat(100_000)}`,
  ])
    it(`finds nothing at ${path.slice(0, 30)}`, () => expect(clusterOf(threeShards(), path)).to.equal("unknown"));

  it("finds users' homes, and paths below them", () => {
    const index = threeShards();
    index.setLogicalCluster("beta", { name: "v1u4alow0iv9", path: "user:alice", type: "root:home" });
    index.setWorkspace("beta", { cluster: "v1u4alow0iv9", name: "team", target: "two" });
    expect(index.lookup("user:alice")).to.deep.include({ cluster: "v1u4alow0iv9", path: "user:alice" });
    expect(clusterOf(index, "user:alice:team")).to.equal("two@gama");
    expect(clusterOf(index, "user:bob")).to.equal("unknown");
  });

  it("treats a system name as one segment, and a workspace called user as a workspace", () => {
    const index = threeShards();
    index.setLogicalCluster("root", { name: "system:admin" });
    index.setLogicalCluster("root", { name: "user" });
    expect(clusterOf(index, "system:admin")).to.equal("system:admin@root");
    expect(clusterOf(index, "user")).to.equal("user@root");
  });

  it("uses only the workspaces on the shard of their logical cluster", () => {
    const index = threeShards();
    index.setWorkspace("gama", { cluster: "root", name: "stray", target: "two" });
    index.setWorkspace("gama", { cluster: "root", name: "org", target: "root" });
    expect(clusterOf(index, "root:stray")).to.equal("unknown");
    expect(clusterOf(index, "root:org")).to.equal("one@beta");
  });

  it("finds nothing on a shard that is not set", () => {
    const index = threeShards();
    index.setLogicalCluster("late", { name: "two" });
    index.deleteLogicalCluster("gama", "two");
    expect(clusterOf(index, "root:org:rh")).to.equal("pending");
    index.setShard("late", { baseURL: "https://late" });
    expect(clusterOf(index, "root:org:rh")).to.equal("two@late");
  });

  it("reports a workspace as pending until it is scheduled", () => {
    const index = threeShards();
    index.setWorkspace("root", { cluster: "root", name: "new", target: "two", phase: "Scheduling" });
    expect(clusterOf(index, "root:new")).to.equal("pending");
    index.setWorkspace("root", { cluster: "root", name: "new", target: "two", phase: "Initializing" });
    expect(clusterOf(index, "root:new")).to.equal("two@gama");
    index.setWorkspace("root", { cluster: "root", name: "new" });
    expect(clusterOf(index, "root:new")).to.equal("pending");
  });

  it("distinguishes unknown, pending and gone paths, and names only parts of the path", () => {
    const index = threeShards();
    index.setWorkspace("beta", { cluster: "one", name: "new", phase: "Scheduling" });
    index.setWorkspace("beta", { cluster: "one", name: "late", target: "three" });
    index.deleteWorkspace("beta", { cluster: "one", name: "rh" });
    const reasonOf = (path: string): unknown => index.lookup(path);
    expect(reasonOf("root:org:none:x")).to.deep.equal({
      kind: "unknown",
      reason: "workspace root:org:none is not known",
    });
    for (const name of ["new", "late"])
      expect(reasonOf(`root:org:${name}:x`)).to.deep.equal({
        kind: "pending",
        reason: `workspace root:org:${name} is not ready yet: try again later`,
      });
    expect(reasonOf("one:rh:x")).to.deep.equal({ kind: "gone", reason: "workspace one:rh was deleted" });
    expect(reasonOf("user:bob:x")).to.deep.equal({ kind: "unknown", reason: "workspace user:bob is not known" });
    expect(clusterOf(index, "three"), "a workspace leads to it").to.equal("pending");
  });

  it("returns 503 for an unavailable workspace and its descendants by path, and not by cluster name", () => {
    const index = threeShards();
    index.setWorkspace("root", { cluster: "root", name: "org", target: "one", phase: "Unavailable" });
    const reason = "workspace root:org is not available: try again later";
    expect(index.lookup("root:org")).to.deep.equal({ kind: "unavailable", code: 503, reason });
    expect(index.lookup("root:org:rh")).to.deep.equal({ kind: "unavailable", code: 503, reason });
    expect(clusterOf(index, "root:org:none")).to.equal("unknown");
    expect(clusterOf(index, "one:rh")).to.equal("two@gama");
    index.setWorkspace("root", { cluster: "root", name: "org", target: "one", phase: "Ready" });
    expect(clusterOf(index, "root:org:rh")).to.equal("two@gama");
  });
});

describe("PathIndex.lookup of a mount", () => {
  it("returns its URL, and the rest of the path", () => {
    const index = threeShards();
    index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL: MOUNT, phase: "Ready" });
    const mount = {
      kind: "mount",
      url: MOUNT,
      workspace: { cluster: "one", name: "mnt", shard: "beta" },
      path: "root:org:mnt",
      rest: "",
    };
    expect(index.lookup("one:mnt")).to.deep.equal(mount);
    expect(index.lookup("root:org:mnt:foo:bar")).to.deep.equal({ ...mount, rest: "foo:bar" });
  });

  it("returns 503 in phase Unavailable, and below an unavailable workspace", () => {
    const index = threeShards();
    index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL: MOUNT, phase: "Unavailable" });
    expect(index.lookup("one:mnt:foo")).to.deep.include({ kind: "unavailable", code: 503 });
    index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL: MOUNT, phase: "Ready" });
    index.setWorkspace("root", { cluster: "root", name: "org", target: "one", phase: "Unavailable" });
    expect(index.lookup("root:org:mnt").kind).to.equal("unavailable");
    expect(index.lookup("one:mnt").kind).to.equal("mount");
  });

  for (const mountURL of [undefined, "", "/clusters/root", "not a URL", "file:///etc/passwd", "javascript:0"])
    for (const phase of ["Ready", "Unavailable"])
      it(`is pending in phase ${phase} without a usable URL, ${JSON.stringify(mountURL)}`, () => {
        const index = threeShards();
        index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL: MOUNT });
        index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL, phase });
        expect(clusterOf(index, "one:mnt:foo")).to.equal("pending");
      });

  it("returns the logical cluster of a workspace that has one", () => {
    const index = threeShards();
    index.setWorkspace("beta", { cluster: "one", name: "mnt", target: "two", mountURL: MOUNT });
    expect(clusterOf(index, "one:mnt")).to.equal("two@gama");
  });
});
