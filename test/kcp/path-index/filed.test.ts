// The hash table finds a whole path after any change, and lookups by name find paths that are not in the table.
import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";
import { Random } from "../../_support/random.ts";

/** More than the index rehashes at once. */
const TEAMS = 200;
const IN_ONE = 100;

function start(): PathIndex {
  const index = new PathIndex();
  index.setShard("root", { baseURL: "https://root.example" });
  index.setLogicalCluster("root", { name: "root", path: "root", type: "root:root" });
  return index;
}

function add(index: PathIndex, cluster: string, name: string): string {
  const target = `${cluster}-${name}`;
  index.setWorkspace("root", { cluster, name, target, phase: "Ready" });
  return target;
}

const there = (index: PathIndex, name: string): void => index.setLogicalCluster("root", { name });
const clusterAt = (index: PathIndex, path: string): string | undefined => {
  const found = index.lookup(path);
  return found.kind === "cluster" ? found.cluster : undefined;
};

describe("PathIndex.lookup of hashed paths", () => {
  it("finds paths below a renamed workspace, or one that appears last", () => {
    const index = start();
    const org = "root-org";
    const leaves: [string, string][] = [];
    for (let team = 0; team < TEAMS; team++) {
      const parent = add(index, org, `team-${team}`);
      there(index, parent);
      for (let n = 0; n < IN_ONE; n++) {
        const leaf = add(index, parent, `w-${n}`);
        there(index, leaf);
        leaves.push([`team-${team}:w-${n}`, leaf]);
      }
    }
    const expectBelow = (above: string, isThere: boolean): void => {
      for (const [path, leaf] of leaves)
        expect(clusterAt(index, `${above}:${path}`), path).to.equal(isThere ? leaf : undefined);
    };
    expectBelow("root:org", false);
    expectBelow(org, false);
    there(index, org);
    expectBelow(org, true);
    add(index, "root", "org");
    expectBelow("root:org", true);
    index.setWorkspace("root", { cluster: "root", name: "other", target: org, phase: "Ready" });
    expectBelow("root:other", true);
    index.deleteWorkspace("root", { cluster: "root", name: "org" });
    expectBelow("root:org", false);
    expectBelow("root:other", true);
    index.setWorkspace("root", { cluster: "root", name: "other", target: org, phase: "Unavailable" });
    expect(index.lookup("root:other:team-0:w-0")).to.include({ kind: "unavailable", code: 503 });
    index.setWorkspace("root", { cluster: "root", name: "other", target: org, phase: "Ready" });
    expectBelow("root:other", true);
    index.deleteLogicalCluster("root", org);
    expectBelow("root:other", false);
  });

  it("finds exactly the existing ones of thousands that come and go", () => {
    const random = new Random(5);
    const index = start();
    const known = new Map<string, string>();
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 500; n++) {
        const name = `w-${random.below(2000)}`;
        const goes = round > 14 || random.below(3) === 0;
        if (goes) index.deleteWorkspace("root", { cluster: "root", name });
        else there(index, add(index, "root", name));
        if (goes) known.delete(name);
        else known.set(name, `root-${name}`);
      }
      for (let n = 0; n < 2000; n++) expect(clusterAt(index, `root:w-${n}`), `w-${n}`).to.equal(known.get(`w-${n}`));
    }
    expect(known.size).to.be.within(1, 1000);
  });

  it("confuses neither a home with a workspace of that name, nor one name with two", () => {
    const index = start();
    there(index, "user");
    there(index, add(index, "user", "alice"));
    expect(clusterAt(index, "user:alice")).to.equal(undefined);
    there(index, add(index, "root", "a"));
    there(index, add(index, "root-a", "b"));
    for (const path of ["root:a:", ":a:b", "root::b", "oot:a:b", "root:a:bb", "root:ab", "xroot:a:b"])
      expect(clusterAt(index, path), path).to.equal(undefined);
    expect(clusterAt(index, "root:a:b")).to.equal("root-a-b");
    expect(clusterAt(index, "root-a:b")).to.equal("root-a-b");
  });

  it("distinguishes paths with equal hashes", () => {
    const index = start();
    for (const name of ["w90z", "w153d"]) {
      expect(clusterAt(index, `root:${name}`)).to.equal(undefined);
      there(index, add(index, "root", name));
      there(index, add(index, `root-${name}`, "below"));
    }
    for (const name of ["w90z", "w153d"]) {
      expect(clusterAt(index, `root:${name}`)).to.equal(`root-${name}`);
      expect(clusterAt(index, `root:${name}:below`)).to.equal(`root-${name}-below`);
    }
    index.deleteWorkspace("root", { cluster: "root", name: "w90z" });
    expect(clusterAt(index, "root:w90z:below")).to.equal(undefined);
    expect(clusterAt(index, "root:w153d:below")).to.equal("root-w153d-below");
  });

  it("finds a logical cluster on another shard, which reports other workspaces in it", () => {
    const index = start();
    index.setShard("later", { baseURL: "https://later.example" });
    const org = add(index, "root", "org");
    there(index, org);
    there(index, add(index, org, "here"));
    index.setLogicalCluster("later", { name: org });
    index.setWorkspace("later", { cluster: org, name: "there", target: "there", phase: "Ready" });
    index.setLogicalCluster("later", { name: "there" });
    const found = (): readonly (string | undefined)[] =>
      ["here", "there"].map((name) => clusterAt(index, `root:org:${name}`));
    expect(found()).to.deep.equal([undefined, "there"]);
    index.deleteShard("later");
    expect(found()).to.deep.equal(["root-org-here", undefined]);
  });
});
