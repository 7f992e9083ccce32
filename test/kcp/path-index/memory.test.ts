// A million workspaces must fit into memory: a limit holds for each, including its name.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { newClusterName } from "@virtual-workspaces/kcp";
import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";

setFlagsFromString("--expose_gc");
const collectGarbage: () => void = runInNewContext("gc");

const WORKSPACES = 100_000;
const BYTES = 280;

async function held(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

/** Adds a hundred workspaces and ten mounts to each parent. Names are slices of a longer text, as in a watch, which must not be kept. */
function feed(index: PathIndex, count = WORKSPACES): void {
  const clusters: { name: string; path: string }[] = [{ name: "root", path: "root" }];
  for (let n = 0; n < count; n++) {
    const parent = clusters[Math.floor(n / 100)] ?? expect.fail("there is a parent");
    const line = `${"x".repeat(1000)} workspace-${n} ${newClusterName()} https://mounts.example/clusters/${n}`;
    const [, name = "", target = "", mountURL] = line.split(" ");
    if (n % 10 === 0) index.setWorkspace("root", { cluster: parent.name, name: `mount-${name}`, mountURL });
    const path = `${parent.path}:${name}`;
    index.setWorkspace("root", { cluster: parent.name, name, target, phase: "Ready" });
    index.setLogicalCluster("root", { name: target, path, type: "root:universal" });
    if (clusters.length <= count / 100) clusters.push({ name: target, path });
  }
}

describe("the memory of the path index", () => {
  it(`is at most ${BYTES} bytes for each of ${WORKSPACES} workspaces, and none after their deletion`, async () => {
    // Compiled code does not belong to the index.
    const warmUp = new PathIndex();
    feed(warmUp, WORKSPACES / 10);
    warmUp.deleteShard("root");
    const index = new PathIndex();
    const before = await held();
    index.setShard("root", { baseURL: "https://root.example" });
    index.setLogicalCluster("root", { name: "root", path: "root", type: "root:root" });
    feed(index);
    const full = await held();
    expect(index.logicalClusters("root")).to.equal(WORKSPACES + 1);
    expect((full - before) / WORKSPACES).to.be.within(100, BYTES);
    index.deleteShard("root");
    expect((await held()) - before).to.be.below(WORKSPACES * 10);
    expect(index.lookup("root").kind).to.equal("unknown");
  });
});
