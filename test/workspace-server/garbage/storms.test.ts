// Why: mass deletions and permanent finalizers cause a bounded amount of work.

import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Counted, counted } from "../support/counted.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { type Body, ClusterClient, ownerOf } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const NAMESPACES = "/api/v1/namespaces";
const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const HOLD = { finalizers: ["example.dev/nobody"] };

/** Writes to the store directly; requests are not measured here. */
async function fill(store: Store, count: number, metadata: (at: number) => object): Promise<void> {
  const maps = ConfigMap.collection(persistent(store));
  const scope = { cluster: "root", namespace: "default" } as never;
  const make = (at: number): unknown => {
    const about = { name: `many-${at}`, namespace: "default", uid: `uid-${at}`, ...metadata(at) };
    return maps.create(scope, { apiVersion: "v1", kind: "ConfigMap", metadata: about } as never);
  };
  for (let at = 0; at < count; at += 100) await Promise.all(Array.from({ length: 100 }, (_, one) => make(at + one)));
}

/** Counts the store operations from here on, until it is idle. */
async function workOf(counts: Counted, work: () => Promise<unknown>): Promise<Counted["counts"]> {
  await counts.quiet();
  const before = { ...counts.counts };
  await work();
  await counts.quiet();
  const { gets, commits } = counts.counts;
  return { gets: gets - before.gets, commits: commits - before.commits };
}

describe("a mass deletion", function () {
  this.timeout(120_000);

  it("of 10,000 objects with one owner takes a few operations each, and does not starve others", async () => {
    await using store = memoryStore();
    const counts = counted(store);
    await using server = await startWorkspaces(counts.store);
    const client = new ClusterClient(server);
    const owner = await client.configMap("owner");
    await fill(store, 10_000, () => ({ ownerReferences: [ownerOf(owner)] }));
    let slowest = 0;
    const work = await workOf(counts, async () => {
      await client.delete(`${MAPS}/owner`, "Background");
      for (let left = 1; left > 0; ) {
        const began = performance.now();
        await client.get("/api/v1/namespaces/default");
        slowest = Math.max(slowest, performance.now() - began);
        const { body } = await client.get(`${MAPS}?limit=1&labelSelector=!none&resourceVersion=`);
        left = body.items.filter(({ metadata }: Body) => metadata.name.startsWith("many-")).length;
      }
    });
    expect(work.commits).to.be.within(10_001, 10_100);
    expect(work.gets).to.be.below(10_000 * 5);
    expect(slowest, "ms that somebody else waited").to.be.below(5_000);
  });

  it("of 500 namespaces empties all of them, and then is idle", async () => {
    await using store = memoryStore();
    const counts = counted(store);
    await using server = await startWorkspaces(counts.store);
    const client = new ClusterClient(server);
    const names = Array.from({ length: 500 }, (_, at) => `brief-${at}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => client.namespace(name)));
    for (const name of names.slice(0, 50)) await client.configMap("kept", {}, name);
    const work = await workOf(counts, async () => {
      await Promise.all(names.map((name) => client.delete(`${NAMESPACES}/${name}`)));
      await client.until(
        NAMESPACES,
        ({ body }) => !body.items.some(({ metadata }: Body) => names.includes(metadata.name)),
      );
    });
    // Writes for each: mark, delete an account and a ConfigMap, remove; with conditions in between.
    expect(work.commits).to.be.below(500 * 8);
    const { entries } = await store.range({ from: " ", to: "~" });
    expect(entries.filter(({ key }) => key.includes("brief-"))).to.deep.equal([]);
  });
});

describe("a permanent finalizer", function () {
  this.timeout(60_000);

  it("on an object, in a namespace and in a workspace causes no work, is reported, and is waited for", async () => {
    await using store = memoryStore();
    const counts = counted(store);
    await using server = await startWorkspaces(counts.store);
    const root = new ClusterClient(server);
    await root.namespace("held");
    await root.configMap("held", HOLD, "held");
    await root.configMap("held", HOLD);
    const inside = new ClusterClient(server, await makeWorkspace(server, "held"));
    await inside.configMap("held", HOLD);
    const work = await workOf(counts, async () => {
      await root.delete(`${MAPS}/held`, "Foreground");
      await root.delete(`${NAMESPACES}/held`);
      await root.delete(`${WORKSPACES}/held`);
      const namespace = await root.until(`${NAMESPACES}/held`, ({ body }) => body.status.conditions?.length > 0);
      expect(JSON.stringify(namespace.body.status.conditions)).to.include("example.dev/nobody in 1 resource instances");
      await root.until(`${WORKSPACES}/held`, ({ body }) =>
        JSON.stringify(body.status.conditions).includes("Some resources are remaining: namespaces. has 1"),
      );
    });
    expect(work.commits).to.be.below(60);
    const idle = await workOf(counts, () => new Promise((resolve) => setTimeout(resolve, 2_000)));
    // As in kcp, a logical cluster is checked again after a fifth of the time that its deletion has taken.
    expect(idle.commits, "nothing is written again and again").to.equal(0);
    expect(idle.gets).to.be.below(15);
    const free = { metadata: { finalizers: null } };
    for (const [client, path] of [
      [root, `${MAPS}/held`],
      [root, "/api/v1/namespaces/held/configmaps/held"],
      [inside, `${MAPS}/held`],
    ] as const)
      await client.patch(path, free);
    for (const path of [`${MAPS}/held`, `${NAMESPACES}/held`, `${WORKSPACES}/held`]) await root.gone(path);
  });
});
