// Concurrent and partial changes: events of different objects and shards arrive in any order, and the index must have the same
// final state.
import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";

/** Number in the documentation of PathIndex. */
const REMEMBERED = 5000;

type Event = (index: PathIndex) => void;

/** Returns all orders of the events that keep the order for each object. */
function orders(objects: readonly (readonly Event[])[]): Event[][] {
  const left = objects.filter((events) => events.length > 0);
  if (left.length === 0) return [[]];
  return left.flatMap((events) => {
    const [first = expect.fail("has one"), ...rest] = events;
    return orders(left.map((other) => (other === events ? rest : other))).map((more) => [first, ...more]);
  });
}

/** Returns an index with `root:a:team` and `root:b:team`, with `deep` in the first; all on shard `amber` except `root`. */
function teams(): PathIndex {
  const index = new PathIndex();
  for (const name of ["root", "amber", "beta"]) index.setShard(name, { baseURL: `https://${name}.io` });
  index.setLogicalCluster("root", { name: "root", path: "root" });
  for (const name of ["a", "b"]) {
    index.setWorkspace("root", { cluster: "root", name, target: name });
    index.setLogicalCluster("amber", { name, path: `root:${name}` });
    index.setWorkspace("amber", { cluster: name, name: "team", target: `${name}-team` });
    index.setLogicalCluster("amber", { name: `${name}-team`, path: `root:${name}:team` });
  }
  index.setWorkspace("amber", { cluster: "a-team", name: "deep", target: "deep" });
  index.setLogicalCluster("root", { name: "deep" });
  return index;
}

const saidOf = (index: PathIndex, path: string): string => {
  const found = index.lookup(path);
  return found.kind === "cluster" ? `${found.cluster}@${found.shard}` : found.kind;
};

describe("PathIndex with events in any order", () => {
  it("finds a workspace that moves to another shard, with its content", () => {
    const all = orders([
      [
        (index) => index.setLogicalCluster("beta", { name: "a-team", path: "root:a:team" }),
        (index) => index.setLogicalCluster("beta", { name: "a-team", path: "root:a:team", type: "root:team" }),
      ],
      [(index) => index.setWorkspace("beta", { cluster: "a-team", name: "deep", target: "deep" })],
      [(index) => index.deleteLogicalCluster("amber", "a-team")],
      [(index) => index.deleteWorkspace("amber", { cluster: "a-team", name: "deep" })],
    ]);
    expect(all).to.have.lengthOf(60);
    for (const events of all) {
      const index = teams();
      for (const event of events) {
        event(index);
        expect(saidOf(index, "root:a:team")).to.be.oneOf(["a-team@amber", "a-team@beta", "gone"]);
        expect(saidOf(index, "root:b:team")).to.equal("b-team@amber");
      }
      expect(index.lookup("root:a:team")).to.deep.include({ shard: "beta", type: "root:team" });
      expect(saidOf(index, "root:a:team:deep")).to.equal("deep@root");
      expect(index.workspaceOf("deep")).to.deep.equal({ cluster: "a-team", name: "deep", shard: "beta" });
    }
  });

  it("keeps the last state of a recreated workspace", () => {
    const key = { cluster: "a", name: "team" };
    const all = orders([
      [
        (index) => index.deleteWorkspace("amber", key),
        (index) => index.setWorkspace("amber", { ...key, phase: "Scheduling" }),
        (index) => index.setWorkspace("amber", { ...key, target: "new-team" }),
      ],
      [(index) => index.deleteWorkspace("amber", { cluster: "a-team", name: "deep" })],
      [(index) => index.deleteLogicalCluster("amber", "a-team")],
      [(index) => index.setLogicalCluster("beta", { name: "new-team", path: "root:a:team" })],
    ]);
    expect(all).to.have.lengthOf(120);
    for (const events of all) {
      const index = teams();
      for (const event of events) event(index);
      expect(saidOf(index, "root:a:team")).to.equal("new-team@beta");
      expect(saidOf(index, "root:a:team:deep"), "was in the old one").to.equal("unknown");
      expect([saidOf(index, "a-team"), index.pathOf("a-team")]).to.deep.equal(["gone", undefined]);
      expect(index.workspaceOf("new-team")).to.deep.equal({ ...key, shard: "amber" });
    }
  });

  it("finds a logical cluster that is recreated with its name, such as a home, on the same shard or another", () => {
    for (const shard of ["amber", "beta"])
      for (const events of orders(
        shard === "amber"
          ? [[remove, (index) => index.setLogicalCluster(shard, HOME)]]
          : [[remove], [(index) => index.setLogicalCluster(shard, HOME)]],
      )) {
        const index = teams();
        index.setLogicalCluster("amber", HOME);
        for (const event of events) event(index);
        expect(saidOf(index, "user:alice")).to.equal(`${HOME.name}@${shard}`);
        index.deleteLogicalCluster(shard, HOME.name);
        expect(index.lookup("user:alice:x")).to.deep.equal({
          kind: "gone",
          reason: "workspace user:alice was deleted",
        });
      }
  });

  it("does not confuse workspaces with the same name in different parents", () => {
    const index = teams();
    index.deleteWorkspace("amber", { cluster: "a", name: "team" });
    index.deleteLogicalCluster("amber", "a-team");
    expect([saidOf(index, "root:a:team"), saidOf(index, "root:b:team")]).to.deep.equal(["gone", "b-team@amber"]);
    index.setWorkspace("amber", { cluster: "a", name: "team", target: "b-team" });
    expect(index.pathOf("b-team")).to.equal("root:b:team");
    index.deleteWorkspace("amber", { cluster: "b", name: "team" });
    expect([saidOf(index, "root:a:team"), saidOf(index, "root:b:team")]).to.deep.equal(["b-team@amber", "gone"]);
  });

  it("knows only the remaining workspaces of a shard that returns", () => {
    const index = teams();
    index.deleteShard("amber");
    for (const path of ["root:a", "root:b"]) expect(saidOf(index, path)).to.equal("pending");
    index.setShard("amber", { baseURL: "https://new.io" });
    index.setLogicalCluster("amber", { name: "b", path: "root:b" });
    index.setWorkspace("amber", { cluster: "b", name: "team", target: "b-team" });
    index.setLogicalCluster("amber", { name: "b-team", path: "root:b:team" });
    expect(index.lookup("root:b:team")).to.deep.include({ baseURL: "https://new.io", cluster: "b-team" });
    expect(saidOf(index, "root:a"), "root still has its Workspace").to.equal("pending");
    expect(saidOf(index, "a-team"), "nobody speaks of it").to.equal("unknown");
    expect([index.logicalClusters("amber"), index.workspaceOf("deep")]).to.deep.equal([2, undefined]);
  });
});

describe("PathIndex after deletions", () => {
  it(`remembers the last ${REMEMBERED} of a shard, and at most twice as many`, () => {
    const index = teams();
    const deleteOne = (n: number): void => {
      index.setLogicalCluster("amber", { name: `old-${n}` });
      index.deleteLogicalCluster("amber", `old-${n}`);
    };
    const remembered = (most: number): number =>
      Array.from({ length: most }, (_, n) => saidOf(index, `old-${n}`)).filter((said) => said === "gone").length;
    for (let n = 0; n < 2 * REMEMBERED; n++) deleteOne(n);
    expect(remembered(2 * REMEMBERED)).to.equal(2 * REMEMBERED);
    deleteOne(2 * REMEMBERED);
    expect(saidOf(index, "old-0")).to.equal("unknown");
    expect(saidOf(index, `old-${REMEMBERED}`)).to.equal("gone");
    expect(remembered(2 * REMEMBERED + 1)).to.equal(REMEMBERED + 1);
  });

  it("remembers no unknown object, no deletion by another shard, and no deleted shard", () => {
    const index = teams();
    index.deleteLogicalCluster("amber", "never");
    index.deleteWorkspace("root", { cluster: "a", name: "never" });
    index.deleteWorkspace("amber", { cluster: "a", name: "never" });
    index.setWorkspace("beta", { cluster: "a", name: "stray", target: "deep" });
    index.deleteWorkspace("beta", { cluster: "a", name: "stray" });
    for (const path of ["never", "root:a:never", "root:a:stray"]) expect(saidOf(index, path)).to.equal("unknown");
    index.deleteLogicalCluster("amber", "b-team");
    expect(saidOf(index, "b-team")).to.equal("gone");
    index.deleteShard("amber");
    expect(saidOf(index, "b-team")).to.equal("unknown");
  });
});

const HOME = { name: "v1u4alow0iv9", path: "user:alice" } as const;
const remove: Event = (index) => index.deleteLogicalCluster("amber", HOME.name);
