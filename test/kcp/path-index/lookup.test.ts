import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";

const MOUNT = "https://kcp.dev.local/services/custom-url/proxy";

/** `root:org:rh`, each on a shard of its own. */
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
  it("of an empty index finds nothing", () => {
    for (const path of ["", "root", "root:org", "*", "user:alice", "system:admin"])
      expect(new PathIndex().lookup(path).kind).to.equal("unknown");
  });

  it("goes from shard to shard", () => {
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

  it("begins with any logical cluster's name", () => {
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

  it("leads users to their homes, and further", () => {
    const index = threeShards();
    index.setLogicalCluster("beta", { name: "v1u4alow0iv9", path: "user:alice", type: "root:home" });
    index.setWorkspace("beta", { cluster: "v1u4alow0iv9", name: "team", target: "two" });
    expect(index.lookup("user:alice")).to.deep.include({ cluster: "v1u4alow0iv9", path: "user:alice" });
    expect(clusterOf(index, "user:alice:team")).to.equal("two@gama");
    expect(clusterOf(index, "user:bob")).to.equal("unknown");
  });

  it("takes a system name as one, and one called user as itself", () => {
    const index = threeShards();
    index.setLogicalCluster("root", { name: "system:admin" });
    index.setLogicalCluster("root", { name: "user" });
    expect(clusterOf(index, "system:admin")).to.equal("system:admin@root");
    expect(clusterOf(index, "user")).to.equal("user@root");
  });

  it("heeds workspaces only of the shard where their logical cluster is", () => {
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

  it("waits until a workspace is scheduled", () => {
    const index = threeShards();
    index.setWorkspace("root", { cluster: "root", name: "new", target: "two", phase: "Scheduling" });
    expect(clusterOf(index, "root:new")).to.equal("pending");
    index.setWorkspace("root", { cluster: "root", name: "new", target: "two", phase: "Initializing" });
    expect(clusterOf(index, "root:new")).to.equal("two@gama");
    index.setWorkspace("root", { cluster: "root", name: "new" });
    expect(clusterOf(index, "root:new")).to.equal("pending");
  });

  it("tells what is unknown, not there yet and gone apart, in words of the path", () => {
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

  it("says of what is unavailable, and of all below it, 503, but not by another name", () => {
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
  it("is its URL, and says what the path had besides", () => {
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

  it("in phase Unavailable is 503, below an unavailable workspace too", () => {
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
      it(`in phase ${phase} without a URL to ask, ${JSON.stringify(mountURL)}, is pending`, () => {
        const index = threeShards();
        index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL: MOUNT });
        index.setWorkspace("beta", { cluster: "one", name: "mnt", mountURL, phase });
        expect(clusterOf(index, "one:mnt:foo")).to.equal("pending");
      });

  it("that has a logical cluster is that", () => {
    const index = threeShards();
    index.setWorkspace("beta", { cluster: "one", name: "mnt", target: "two", mountURL: MOUNT });
    expect(clusterOf(index, "one:mnt")).to.equal("two@gama");
  });
});
