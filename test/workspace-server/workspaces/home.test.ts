// Home workspaces: request, creation and path.
import { User } from "@virtual-workspaces/framework";
import { homeClusterName } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { type HomeOptions, homeWorkspace } from "../../../packages/workspace-server/src/workspaces/home.ts";
import { ClusterRoleBinding } from "./support/kinds.ts";
import { startWorld, type World } from "./support/world.ts";

const alice = new User({ name: "alice", groups: ["devs"] });
const options = (world: World, more: Partial<HomeOptions> = {}): HomeOptions => ({
  shard: world.root,
  isAllowed: () => true,
  roleBindings: ClusterRoleBinding,
  ...more,
});

describe("A home workspace", () => {
  it("is created on the first request, and found by the next", async () => {
    await using world = await startWorld();
    const first = await homeWorkspace(alice, options(world));
    expect(first).to.deep.equal({ kind: "creating", retryAfterSeconds: 1, message: "Creating the home workspace" });
    const cluster = homeClusterName("alice");
    await world.until(() => world.root.state.logicalCluster(cluster)?.status?.phase === "Ready");
    // The owner of one needs no authorization for it.
    const answer = await homeWorkspace(alice, options(world, { isAllowed: () => expect.fail("was asked") }));
    if (answer.kind !== "ready") return expect.fail("it is not ready");
    const { metadata, spec, status } = answer.workspace;
    expect(Object.keys(metadata)).to.deep.equal(["name", "creationTimestamp"]);
    expect([metadata.name, spec, status?.phase]).to.deep.equal([
      "cluster",
      { cluster, URL: `https://root.example/clusters/${cluster}` },
      "Ready",
    ]);
    const behind = world.root.state.logicalCluster(cluster);
    expect(behind?.metadata.annotations?.["kcp.io/path"]).to.equal("user:alice");
    expect(behind?.metadata.annotations?.["internal.tenancy.kcp.io/type"]).to.equal("root:home");
    expect(behind?.spec).to.deep.equal({
      directlyDeletable: false,
      createdBy: { username: "alice", groups: ["devs"] },
      initializers: ["root:universal"],
    });
    await world.until(() => world.bound(cluster) === "alice");
    expect(world.registry.index.lookup("user:alice")).to.include({ kind: "cluster", cluster });
  });

  it("requires authorization", async () => {
    await using world = await startWorld({ working: false });
    const asked: unknown[] = [];
    const isAllowed: HomeOptions["isAllowed"] = ({ name }, ...access) => {
      asked.push([name, ...access]);
      return false;
    };
    let message = "";
    await homeWorkspace(alice, options(world, { isAllowed })).catch((error: Error) => (message = error.message));
    expect(message).to.equal(
      'workspaces.tenancy.kcp.io "~" is forbidden: User "alice" cannot create resource "workspaces" in API group "tenancy.kcp.io" at the cluster scope: workspace access not permitted',
    );
    const access = { verb: "create", group: "tenancy.kcp.io", version: "v1alpha1", resource: "workspaces", name: "~" };
    expect(asked).to.deep.equal([["alice", "root", access]]);
    expect(world.root.state.logicalCluster(homeClusterName("alice"))).to.equal(undefined);
  });

  it("is never another user's, whatever its name", async () => {
    await using world = await startWorld({ working: false });
    await homeWorkspace(alice, options(world));
    await world.change(homeClusterName("alice"), (each) => ({
      ...each,
      spec: { ...each.spec, createdBy: { username: "mallory" } },
    }));
    let message = "";
    await homeWorkspace(alice, options(world)).catch((error: Error) => (message = error.message));
    expect(message).to.match(/^workspaces.tenancy.kcp.io "~" is forbidden: /);
  });

  it("fails if it is not initialized within a minute", async () => {
    await using world = await startWorld({ working: false });
    expect((await homeWorkspace(alice, options(world))).kind).to.equal("creating");
    let message = "";
    const later = () => new Date(Date.now() + 61_000);
    await homeWorkspace(alice, options(world, { now: later })).catch((error: Error) => (message = error.message));
    expect(message).to.equal("Internal error occurred: home workspace creation timeout");
  });
});
