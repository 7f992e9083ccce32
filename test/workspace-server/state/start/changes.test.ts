// Changes before a server has read all workspaces take effect at once, and later reads do not undo them.
import { setImmediate as nextTurn } from "node:timers/promises";
import { LogicalCluster } from "@virtual-workspaces/kcp";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { modify } from "../../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../../packages/workspace-server/src/state/objects.ts";
import { logicalClusterKey } from "../../../../packages/workspace-server/src/state/shard-state.ts";
import { until } from "../../../_support/until.ts";
import { configMap, namespace, paths, widget } from "../../faults/support/tree.ts";
import { ClusterClient } from "../../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../support/workspaces.ts";
import { EVERYWHERE, HeldStore } from "./support/held-store.ts";
import { make, makeTree, root, type Tree, USERS, WIDGETS, WORKSPACES } from "./support/tree.ts";

const MAP = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
const BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const LOCKS = "internal.apis.kcp.io/resource-bindings";
const SLICE = "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/widgets";

describe("before a server has read everything", function () {
  this.timeout(60_000);
  let inner: Store;
  let held: HeldStore;
  let server: Workspaces;
  let tree: Tree;

  beforeEach(async () => {
    inner = memoryStore();
    {
      await using before = await startWorkspaces(inner, { users: USERS, urls });
      tree = await makeTree(before);
      await new ClusterClient(before, tree.clusters.provider).until(SLICE, ({ body }) => body.status?.endpoints);
    }
    held = new HeldStore(inner, EVERYWHERE);
    server = await startWorkspaces(held.store, { users: USERS, urls });
  });

  afterEach(async () => {
    held.release();
    await server[Symbol.asyncDispose]();
    await inner[Symbol.asyncDispose]();
  });

  const status = async (path: string, user: string): Promise<number> => (await server.get(path, { user })).status;
  /** Repeats a request until its status is as expected: events follow writes with a delay. */
  const untilStatus = (path: string, user: string, code: number): Promise<true> =>
    until(async () => (await status(path, user)) === code);
  /** Lets the server read everything; resolves when it has. */
  const readAll = async (): Promise<void> => {
    held.release();
    expect((await server.get("/clusters/*/api/v1/configmaps?limit=1", root)).status).to.equal(200);
  };

  it("permissions can be granted and revoked", async () => {
    const map = `/clusters/root:own${MAP}`;
    expect(await status(map, "alice")).to.equal(200);
    const own = new ClusterClient(server, "root:own");
    for (const name of ["test-admin", "test-access"]) await own.delete(`${BINDINGS}/${name}`);
    await untilStatus(map, "alice", 403);
    // A logical cluster that no request has loaded.
    const child = new ClusterClient(server, tree.clusters.child);
    for (const name of ["test-admin", "test-access"]) await child.delete(`${BINDINGS}/${name}`);
    await untilStatus(`/clusters/root:own:child${MAP}`, "alice", 403);
    expect(held.waiting).to.be.greaterThan(0);
    await readAll();
    expect([await status(map, "alice"), await status(`/clusters/root:own:child${MAP}`, "alice")]).to.deep.equal([
      403, 403,
    ]);
  });

  it("workspaces can be created, initialized, entered and deleted", async () => {
    const made = await make(server, "new", { at: "root:own" });
    expect(await status(`/clusters/root:own:new${MAP}`, "root")).to.equal(200);
    const parent = new ClusterClient(server, "root:own");
    await parent.delete(`${WORKSPACES}/child`);
    // Child workspaces go first; finding them needs the complete read.
    await parent.until(`${WORKSPACES}/child`, ({ body }) => body.status.phase === "Deleting");
    await untilStatus(`/clusters/root:own:child${MAP}`, "root", 404);
    expect(held.waiting).to.be.greaterThan(0);
    await readAll();
    await parent.until(`${WORKSPACES}/child`, (answer) => answer.status === 404);
    await untilStatus(`/clusters/root:own:child${MAP}`, "root", 404);
    expect(await status(`/clusters/${made}${MAP}`, "root")).to.equal(200);
    const { body } = await server.get(`/clusters/root:own${WORKSPACES}`, root);
    expect(body.items.map((each: { metadata: { name: string } }) => each.metadata.name)).to.deep.equal(["new"]);
  });

  it("namespaces can be created, filled, emptied and deleted", async () => {
    const own = new ClusterClient(server, "root:own");
    await own.create(paths.NAMESPACES, namespace("new"));
    await own.until("/api/v1/namespaces/new/serviceaccounts/default", (answer) => answer.status === 200);
    await own.create("/api/v1/namespaces/going/configmaps", configMap("held", { finalizers: ["test.dev/held"] }));
    await own.delete(`${paths.NAMESPACES}/going`);
    await own.until(`${paths.NAMESPACES}/going`, ({ body }) =>
      body.status?.conditions?.some((one: { type: string; status: string }) => {
        return one.type === "NamespaceFinalizersRemaining" && one.status === "True";
      }),
    );
    const refused = await own.send("POST", "/api/v1/namespaces/going/configmaps", configMap("late"));
    expect(refused.status).to.equal(403);
    expect(held.waiting).to.be.greaterThan(0);
    await own.patch("/api/v1/namespaces/going/configmaps/held", { metadata: { finalizers: null } });
    await readAll();
    await own.until(`${paths.NAMESPACES}/going`, (answer) => answer.status === 404);
  });

  it("bindings and their objects do not count as gone", async () => {
    const consumer = new ClusterClient(server, "root:consumer");
    await consumer.create(WIDGETS, widget("another"));
    const provider = new ClusterClient(server, tree.clusters.provider);
    const before = (await provider.get(SLICE)).body.status.endpoints;
    // Triggers reconciliation of the slice.
    await provider.patch(SLICE, { metadata: { annotations: { looked: "at" } } });
    await provider.patch(`${paths.EXPORTS}/widgets`, { metadata: { annotations: { "extra.apis.kcp.io/a": "b" } } });
    await consumer.until(`${paths.BINDINGS}/widgets`, ({ body }) => body.metadata.annotations["extra.apis.kcp.io/a"]);
    expect((await provider.get(SLICE)).body.status.endpoints)
      .to.deep.equal(before)
      .and.have.length(1);
    await readAll();
    expect((await provider.get(SLICE)).body.status.endpoints).to.deep.equal(before);
    expect(await status(`/clusters/root:consumer${WIDGETS}/another`, "carol")).to.equal(200);
  });

  it("writes of another process are checked against the whole workspace", async () => {
    using other = new ShardObjects(inner);
    const clusters = other.of(LogicalCluster);
    const key = logicalClusterKey(tree.clusters.consumer);
    const locksOf = async (change: (locks: Record<string, object>) => Record<string, object>) => {
      const found = await modify(clusters, key, ({ metadata, ...cluster }) => {
        const { [LOCKS]: text = "{}", ...annotations } = metadata.annotations ?? {};
        return {
          ...cluster,
          metadata: { ...metadata, annotations: { ...annotations, [LOCKS]: locked(text, change) } },
        };
      });
      return Object.keys(JSON.parse(found?.metadata.annotations?.[LOCKS] ?? "{}"));
    };
    const before = await locksOf((locks) => locks);
    expect(before).to.include("widgets.example.dev");
    const gone = "gone.example.dev";
    expect(await locksOf((locks) => ({ ...locks, [gone]: { n: "of-nobody" } }))).to.include(gone);
    // The controller removes locks of missing bindings only.
    let locks: readonly string[];
    do {
      await nextTurn();
      locks = await locksOf((all) => all);
    } while (locks.includes(gone));
    expect(locks).to.deep.equal(before);
    expect(held.waiting).to.be.greaterThan(0);
  });

  it("requests about all workspaces wait", async () => {
    const paths = [
      `/clusters/*/apis/example.dev/v1/widgets:${tree.identity}`,
      `/services/workspaces/clusters/*${WORKSPACES}`,
      "/services/cache/shards/*/clusters/*/apis/rbac.authorization.k8s.io/v1/clusterroles",
    ];
    let answered = 0;
    const answers = paths.map(async (path) => {
      const answer = await server.get(path, root);
      answered += 1;
      return answer;
    });
    // Others are answered earlier, whatever their order.
    for (let at = 0; at < 20; at++) expect(await status(`/clusters/root:own${MAP}`, "alice")).to.equal(200);
    expect(answered).to.equal(0);
    held.release();
    const [widgets, workspaces, roles] = await Promise.all(answers);
    expect(widgets?.body.items.map(nameOf)).to.deep.equal(["kept"]);
    expect(workspaces?.body.items.map(nameOf)).to.have.members(["own", "child", "provider", "consumer", "shut"]);
    expect(roles?.body.items.map(nameOf)).to.include("policy");
  });
});

function locked(text: string, change: (locks: Record<string, object>) => Record<string, object>): string {
  return JSON.stringify(change(JSON.parse(text)));
}

const nameOf = ({ metadata }: { readonly metadata: { readonly name: string } }): string => metadata.name;

/** Same URLs at each start, so that written ones stay. */
function urls() {
  const url = "https://workspaces.example";
  return { baseURL: url, externalURL: url, virtualWorkspaceURL: url };
}
