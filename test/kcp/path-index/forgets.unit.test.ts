// Why: an index runs for months while workspaces come and go. Its additional structures must not outlive its nodes.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import fc from "fast-check";
import { Graph } from "../../../packages/kcp/src/path-index/graph.ts";
import { ownCopy, SharedTexts } from "../../../packages/kcp/src/path-index/texts.ts";
import { CLUSTERS, history, NAMES, SHARDS } from "./arbitrary.ts";
import type { Change } from "./model.ts";

setFlagsFromString("--expose_gc");
const collectGarbage: () => void = runInNewContext("gc");

function play(graph: Graph, change: Change): void {
  const shard = graph.shard(change.shard);
  if ("set" in change) {
    if (change.set === "workspace") graph.setWorkspace(shard, change.workspace);
    if (change.set === "logicalCluster") graph.setLogicalCluster(shard, change.logicalCluster);
  } else if (change.delete === "shard") graph.deleteShard(shard);
  else if (change.delete === "workspace") graph.deleteWorkspace(shard, change.workspace);
  else graph.deleteLogicalCluster(shard, change.name);
}

const byShard = (graph: Graph): void => {
  for (const shard of [...graph.shards.values()]) graph.deleteShard(shard);
};

const byObject = (graph: Graph): void => {
  for (const shard of graph.shards.values())
    for (const cluster of CLUSTERS) {
      graph.deleteLogicalCluster(shard, cluster);
      for (const name of NAMES) graph.deleteWorkspace(shard, { cluster, name });
    }
};

function partsBehind(graph: Graph, change: Change): WeakRef<object>[] {
  play(graph, change);
  const parts = [...graph.clusters.values()].flatMap((node) => [node, node.type, node.prefix]);
  return parts.filter((part) => part !== undefined).map((part) => new WeakRef(part));
}

describe("the path index", () => {
  for (const [what, empty] of Object.entries({ "shard by shard": byShard, "object by object": byObject }))
    it(`frees all memory of objects that are deleted ${what}`, async () => {
      const graphs: Graph[] = [];
      const parts: WeakRef<object>[] = [];
      for (const changes of fc.sample(history, { numRuns: 100, seed: 1 })) {
        const graph = new Graph();
        // A separate function, so that its registers are free afterwards.
        for (const change of changes) parts.push(...partsBehind(graph, change));
        empty(graph);
        expect(graph.clusters.size).to.equal(0);
        for (const name of SHARDS) expect(graph.shards.get(name)?.clusters ?? 0).to.equal(0);
        graphs.push(graph);
      }
      expect(parts.length).to.be.above(1000);
      // A WeakRef keeps its target until the turn ends, and a register maybe longer.
      const kept = (): number => parts.filter((part) => part.deref() !== undefined).length;
      for (let turn = 0; turn < 20 && kept() > 0; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        collectGarbage();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(kept()).to.equal(0);
      expect(graphs).to.have.lengthOf(100);
    });
});

describe("SharedTexts", () => {
  it("keep a string once, while it is in use", () => {
    const texts = new SharedTexts();
    const first = texts.take("root:org");
    expect(texts.take("root:org")).to.equal(first);
    texts.leave(first);
    texts.leave(undefined);
    expect(texts.take("root:org")).to.equal(first);
    texts.leave(first);
    texts.leave(first);
    expect(texts.take("root:org")).not.to.equal(first);
  });
});

describe("ownCopy", () => {
  for (const text of ["", "root", "é", "user:😀", "\ud800", "x".repeat(100)])
    it(`returns ${JSON.stringify(text)} unchanged`, () => expect(ownCopy(text)).to.equal(text));
});
