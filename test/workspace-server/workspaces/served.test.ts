// The lifecycle of a workspace as clients see it.
import type { LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import type { WatchEvent } from "../../_support/plain.ts";
import { manifest, serveWorld } from "./support/served.ts";
import { startWorld } from "./support/world.ts";

/** Returns the parts of an event that distinguish the steps. */
function told({ type, object }: WatchEvent): string {
  const { metadata, spec, status = {} } = object as unknown as Workspace;
  const { annotations = {}, labels = {}, finalizers = [] } = metadata;
  const conditions = (status.conditions ?? []).map((each) => `${each.type.replace("Workspace", "")}=${each.status}`);
  const parts = [
    type,
    status.phase,
    labels["tenancy.kcp.io/phase"] && `label ${labels["tenancy.kcp.io/phase"]}`,
    annotations["core.kcp.io/shard"] && `on ${annotations["core.kcp.io/shard"]}`,
    annotations["internal.tenancy.kcp.io/shard"],
    finalizers.length > 0 && finalizers.join(),
    spec.cluster && "cluster",
    spec.URL,
    ...conditions,
    status.initializers && `waits for ${status.initializers.join()}`,
    metadata.deletionTimestamp && "going",
  ];
  return parts.filter(Boolean).join(" | ");
}

const OWNER = "experimental.tenancy.kcp.io/owner";

describe("Workspaces, as clients see them", () => {
  it("show each phase of their scheduling, and then of their deletion, as an event", async () => {
    await using world = await startWorld();
    await using server = await serveWorld(world);
    await using watch = await server.watch(`${server.at("root", "workspaces")}?watch=1`);
    const made = await server.send(`POST ${server.at("root", "workspaces")}`, manifest("Workspace", "one"));
    expect([made.status, made.body.status, made.body.spec]).to.deep.equal([
      201,
      { phase: "Scheduling" },
      { type: { name: "universal", path: "root" } },
    ]);
    const events = await watch.until(
      ({ object }) =>
        object.metadata.labels?.["tenancy.kcp.io/phase"] === "Ready" &&
        object.metadata.annotations?.[OWNER] === '{"username":"alice"}',
    );
    const placed = "on root | 1pfxsevk | core.kcp.io/logicalcluster";
    const there = `${placed} | cluster | https://root.example/clusters/root:one`;
    const seen = events.map(told);
    const waiting = seen.filter((each) => each.includes("Initialized=False"));
    expect(seen.filter((each) => !each.includes("Initialized=False"))).to.deep.equal([
      "ADDED | Scheduling",
      `MODIFIED | Scheduling | label Scheduling | ${placed}`,
      `MODIFIED | Ready | label Ready | ${there} | Initialized=True | Scheduled=True`,
    ]);
    expect([...new Set(waiting)]).to.deep.equal([
      `MODIFIED | Initializing | label Initializing | ${there} | Initialized=False | Scheduled=True | waits for root:universal`,
    ]);
    const { cluster = "" } = (events.at(-1) as WatchEvent).object["spec"] as Workspace["spec"];
    await using behindIt = await server.watch(`${server.at(cluster, "logicalclusters")}?watch=1`);
    const named = await behindIt.until(({ object }) => object.metadata.annotations?.[OWNER] === '{"username":"alice"}');
    const behind = named.at(-1)?.object as unknown as LogicalCluster;
    expect(behind.spec).to.deep.equal({
      directlyDeletable: false,
      owner: {
        apiVersion: "tenancy.kcp.io/v1alpha1",
        resource: "workspaces",
        name: "one",
        cluster: "root",
        uid: made.body.metadata.uid,
      },
      createdBy: {
        username: "alice",
        uid: "1",
        groups: ["devs", "system:authenticated"],
        extra: { a: ["1"], b: ["2"] },
      },
      initializers: ["root:universal"],
    });
    const { [OWNER]: _owner, ...annotations } = behind.metadata.annotations ?? {};
    expect(annotations).to.deep.equal({
      "core.kcp.io/shard": "root",
      "internal.apis.kcp.io/resource-bindings": "{}",
      "internal.tenancy.kcp.io/type": "root:universal",
      "kcp.io/cluster": cluster,
      "kcp.io/path": "root:one",
    });
    expect([behind.status?.phase, behind.status?.URL]).to.deep.equal([
      "Ready",
      `https://root.example/clusters/${cluster}`,
    ]);
    const gone = await server.send(`DELETE ${server.at("root", "workspaces/one")}`);
    expect([gone.status, gone.body.metadata.deletionTimestamp !== undefined]).to.deep.equal([200, true]);
    const last = await watch.until(({ type }) => type === "DELETED");
    const phases = last.map(({ type, object }) => `${type} ${(object as unknown as Workspace).status?.phase}`);
    expect(phases.at(0)).to.equal("MODIFIED Ready");
    expect(phases.at(-1)).to.match(/^DELETED /);
    expect((await server.get(server.at(cluster, "logicalclusters/cluster"))).status).to.equal(404);
  });

  it("can use a type right after its creation", async () => {
    await using world = await startWorld();
    await using server = await serveWorld(world);
    for (let round = 0; round < 20; round++) {
      const extend = { with: [{ name: "universal", path: "root" }] };
      const type = manifest("WorkspaceType", `type-${round}`, { spec: { extend, initializer: true } });
      expect((await server.send(`POST ${server.at("root", "workspacetypes")}`, type)).status).to.equal(201);
      const spec = { type: { name: `type-${round}` } };
      const made = await server.send(
        `POST ${server.at("root", "workspaces")}`,
        manifest("Workspace", `w${round}`, { spec }),
      );
      expect([made.status, made.body.spec.type]).to.deep.equal([201, { name: `type-${round}`, path: "root" }]);
    }
  });
});
