// Why: the garbage collector handles cycles, many dependents, owners in other logical clusters, and restarts.

import { memoryStore, persistent } from "@virtual-workspaces/store";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { counted } from "../support/counted.ts";
import { type Body, ClusterClient, ownerOf } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const BLOCKS = { blockOwnerDeletion: true };
const references = (...owners: readonly object[]): object => ({ metadata: { ownerReferences: owners } });
const owned = (...owners: readonly object[]): object => ({ ownerReferences: owners });

/** Creates objects that own one another in a cycle. */
async function circle(client: ClusterClient, names: readonly string[]): Promise<void> {
  const made: Body[] = [];
  for (const name of names) made.push(await client.configMap(name));
  for (const [at, { metadata }] of made.entries())
    await client.patch(`${MAPS}/${metadata.name}`, references(ownerOf(made[(at + 1) % made.length], BLOCKS)));
}

describe("the garbage collector", function () {
  this.timeout(60_000);

  for (const policy of ["Background", "Foreground"] as const)
    for (const names of [["a"], ["a", "b"], ["a", "b", "c"]])
      it(`deletes a cycle of ${names.length} owners with ${policy}, and then is idle`, async () => {
        await using store = memoryStore();
        const counts = counted(store);
        await using server = await startWorkspaces(counts.store);
        const client = new ClusterClient(server);
        await circle(client, names);
        await counts.quiet();
        for (const name of names) expect((await client.get(`${MAPS}/${name}`)).status).to.equal(200);
        await client.delete(`${MAPS}/a`, policy);
        for (const name of names) await client.gone(`${MAPS}/${name}`);
        await counts.quiet();
      });

  it("breaks a cycle of owners that are all deleted in the foreground", async () => {
    await using store = memoryStore();
    await using server = await startWorkspaces(store);
    const client = new ClusterClient(server);
    await circle(client, ["a", "b", "c"]);
    const foreground = { propagationPolicy: "Foreground" };
    const asked = await Promise.all(
      ["a", "b", "c"].map((name) => client.send("DELETE", `${MAPS}/${name}`, foreground)),
    );
    // Two deletes break the cycle: the third object may already be gone.
    for (const { status, text } of asked) expect(status, text).to.be.oneOf([200, 404]);
    for (const name of ["a", "b", "c"]) await client.gone(`${MAPS}/${name}`);
  });

  for (const policy of ["Background", "Foreground", "Orphan"] as const)
    it(`processes each of 2,000 dependents only a few times with ${policy}`, async () => {
      await using store = memoryStore();
      const counts = counted(store);
      const maps = ConfigMap.collection(persistent(store));
      await using server = await startWorkspaces(counts.store);
      const client = new ClusterClient(server);
      const owner = await client.configMap("owner");
      // Writes to the store directly; requests are not measured here.
      const key = { cluster: "root", namespace: "default", name: "" };
      for (let at = 0; at < 2_000; at++) {
        const name = `child-${at}`;
        const metadata = { name, namespace: "default", uid: `uid-${at}`, ...owned(ownerOf(owner, BLOCKS)) };
        await maps.create(key as never, { apiVersion: "v1", kind: "ConfigMap", metadata } as never);
      }
      await counts.quiet();
      const before = { ...counts.counts };
      const began = performance.now();
      await client.delete(`${MAPS}/owner`, policy);
      await client.gone(`${MAPS}/owner`);
      const left = async (): Promise<number> => {
        let children = 0;
        for await (const { bytes } of maps.objectsIn(key)) if (bytes.includes("ownerReferences")) children++;
        return children;
      };
      await until(async () => (await left()) <= 0);
      await counts.quiet();
      const { gets, commits } = counts.counts;
      expect(performance.now() - began).to.be.below(30_000);
      expect(commits - before.commits)
        .to.be.at.least(2_000)
        .and.below(2_100);
      expect(gets - before.gets).to.be.below(2_000 * 5);
    });

  it("never deletes objects by a uid, a name or a delete in another logical cluster", async () => {
    await using store = memoryStore();
    const counts = counted(store);
    const maps = ConfigMap.collection(persistent(store));
    await using server = await startWorkspaces(counts.store);
    const [one, two] = [new ClusterClient(server, "one"), new ClusterClient(server, "two")];
    for (const client of [one, two]) await client.namespace("default");
    // Identical objects with the same uids, which no client could create.
    for (const cluster of ["one", "two"]) {
      const key = { cluster, namespace: "default", name: "" };
      const make = (name: string, metadata: object): Promise<unknown> => {
        const whole = { name, namespace: "default", ...metadata };
        return maps.create(key as never, { apiVersion: "v1", kind: "ConfigMap", metadata: whole } as never);
      };
      const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner", uid: "the-same" } };
      await make("owner", { uid: "the-same" });
      await make("child", { uid: "the-same-too", ...owned(ownerOf(owner, BLOCKS)) });
    }
    // Object with an owner that exists only in the other logical cluster.
    const { metadata } = await one.configMap("only-in-one");
    const foreign = { apiVersion: "v1", kind: "ConfigMap", metadata };
    await two.configMap("stray", owned(ownerOf(foreign)));
    await two.gone(`${MAPS}/stray`);
    expect((await one.get(`${MAPS}/only-in-one`)).status).to.equal(200);
    for (const policy of ["Foreground", "Background"] as const) {
      await one.delete(`${MAPS}/owner`, policy);
      await one.gone(`${MAPS}/child`);
      await counts.quiet();
      for (const name of ["owner", "child"]) expect((await two.get(`${MAPS}/${name}`)).status).to.equal(200);
      if (policy === "Background") break;
      const owner = await one.configMap("owner");
      await one.configMap("child", owned(ownerOf(owner, BLOCKS)));
    }
    await one.configMap("orphaned", { ...owned(ownerOf(await one.configMap("owner"))), finalizers: ["example.dev/x"] });
    await one.delete(`${MAPS}/owner`, "Orphan");
    await one.gone(`${MAPS}/owner`);
    const { body } = await two.get(`${MAPS}/child`);
    expect(body.metadata.ownerReferences).to.have.length(1);
  });

  it("completes deletions that happened while no server ran, or that were interrupted", async () => {
    await using store = memoryStore();
    const policies = ["Foreground", "Orphan", "Background"] as const;
    {
      await using server = await startWorkspaces(store);
      const client = new ClusterClient(server);
      for (const policy of policies) {
        const name = policy.toLowerCase();
        const owner = await client.configMap(name);
        const finalizers = policy === "Foreground" ? ["example.dev/hold"] : [];
        for (let at = 0; at < 50; at++)
          await client.configMap(`${name}-${at}`, { ...owned(ownerOf(owner, BLOCKS)), finalizers });
      }
      await Promise.all(policies.map((policy) => client.delete(`${MAPS}/${policy.toLowerCase()}`, policy)));
    }
    // Deletes an owner while no server runs.
    const maps = ConfigMap.collection(persistent(store));
    const key = { cluster: "root", namespace: "default", name: "" };
    const make = (name: string, metadata: object): Promise<unknown> => {
      const whole = { name, namespace: "default", ...metadata };
      return maps.create(key as never, { apiVersion: "v1", kind: "ConfigMap", metadata: whole } as never);
    };
    const gone = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "gone", uid: "gone" } };
    await make("late", { uid: "late", ...owned(ownerOf(gone)) });
    await using server = await startWorkspaces(store);
    const client = new ClusterClient(server);
    await client.gone(`${MAPS}/late`);
    for (let at = 0; at < 50; at++) {
      await client.gone(`${MAPS}/background-${at}`);
      await client.until(`${MAPS}/orphan-${at}`, ({ body }) => body.metadata.ownerReferences === undefined);
      await client.until(`${MAPS}/foreground-${at}`, ({ body }) => body.metadata.deletionTimestamp);
    }
    await client.gone(`${MAPS}/orphan`);
    for (let at = 0; at < 50; at++) await client.patch(`${MAPS}/foreground-${at}`, { metadata: { finalizers: null } });
    await client.gone(`${MAPS}/foreground`);
  });
});
