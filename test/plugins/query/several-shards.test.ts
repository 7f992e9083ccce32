// Queries over all workspaces of a server with several shards: one order, one total, rights on each shard, and a shard that is away.
import { queryView } from "@virtual-workspaces/query";
import { type Store, StoreError } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import type { Answer } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import {
  CONFIG_MAPS,
  configMap,
  makeOn,
  namesIn,
  root,
  SHARDS,
  Stores,
  shardObject,
  startSharded,
  untilShard,
} from "../../workspace-server/shards/support.ts";
import { bind, makeAdmin } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";

const QUERY = "/services/query/clusters/*/api/v1/namespaces/default/configmaps";
const DISHES = `${QUERY}?search=dish&sortBy=Name`;
/** Same URLs at each start, so that they cause no writes. */
const URLS = {
  urls: () => ({ baseURL: "https://a.test", externalURL: "https://a.test", virtualWorkspaceURL: "https://a.test" }),
};
const FAR = (name: string) => ({ baseURL: `https://${name}.test`, virtualWorkspaceURL: `https://${name}.test` });

describe("a query view over several shards", function () {
  this.timeout(60_000);

  /** Starts a server with `root` and `shard-1`, whose query view covers both. */
  async function start(
    stores: Stores,
    { storeOf = (name: string): Store => stores.of(name), authorizeEvery = 200 } = {},
  ): Promise<Workspaces> {
    const own = loopback();
    const view = queryView({ over: () => own.workspaces, shards: () => own.shards, authorizeEvery });
    return startSharded(stores, {
      ...URLS,
      users: ["carol"],
      loopback: own,
      virtualWorkspaces: [view],
      shards: { storeOf, urls: FAR },
    });
  }
  async function post(server: Workspaces, cluster: string, name: string): Promise<void> {
    const made = await server.send(`POST /clusters/${cluster}${CONFIG_MAPS}`, configMap(name), root);
    expect(made.status, made.text).to.equal(201);
  }
  /** Makes workspaces with dishes on both shards. */
  async function fill(server: Workspaces): Promise<{ readonly near: string; readonly far: string }> {
    const near = await makeOn(server, "near", { shard: "root" });
    const far = await makeOn(server, "far", { shard: "shard-1" });
    for (const [cluster, name] of [
      [near, "dish-b"],
      [far, "dish-a"],
      [near, "dish-d"],
      [far, "dish-c"],
    ] as const)
      await post(server, cluster, name);
    return { near, far };
  }
  const query = ({ body }: Answer) => body.metadata.query;

  it("has one order, one total and pages over all shards, and follows a window of them", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const { near, far } = await fill(server);
    const all = await server.get(`${DISHES}&countBy=Cluster`, root);
    expect(namesIn(all)).to.deep.equal(["dish-a", "dish-b", "dish-c", "dish-d"]);
    expect(query(all).shards).to.deep.equal(["root", "shard-1"]);
    expect(query(all).unavailableShards).to.equal(undefined);
    expect(query(all).counts.Cluster.values).to.have.deep.members([
      { value: near, count: 2 },
      { value: far, count: 2 },
    ]);
    const first = await server.get(`${DISHES}&limit=3`, root);
    expect([namesIn(first), query(first).total]).to.deep.equal([["dish-a", "dish-b", "dish-c"], 4]);
    const next = await server.get(`${DISHES}&limit=3&continue=${first.body.metadata.continue}`, root);
    expect(namesIn(next)).to.deep.equal(["dish-d"]);
    const { resourceVersion, query: listed } = first.body.metadata;
    await using watch = await server.watch(
      `${DISHES}&limit=3&watch=true&resourceVersion=${resourceVersion}&rights=${listed.rights}`,
      root,
    );
    await post(server, far, "dish-0");
    expect(await watch.take(2)).to.deep.equal(["DELETED dish-c", "ADDED dish-0"]);
    await post(server, near, "dish-1");
    expect(await watch.take(2)).to.deep.equal(["DELETED dish-b", "ADDED dish-1"]);
  });

  it("shows a user the workspaces in which the user may list, on any shard, and follows rights", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const { near, far } = await fill(server);
    await makeAdmin(server, far, "alice");
    expect(namesIn(await server.get(DISHES, { user: "alice" }))).to.deep.equal(["dish-a", "dish-c"]);
    await makeAdmin(server, near, "alice");
    const both = await untilAnswer(
      () => server.get(DISHES, { user: "alice" }),
      (answer) => query(answer).total === 4,
    );
    expect(namesIn(both)).to.have.length(4);
    expect(namesIn(await server.get(DISHES, { user: "bob" }))).to.deep.equal([]);
    // A right to all workspaces of one shard is none to those of the others.
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "carol" };
    await bind(server, "system:admin", { name: "carol", role: "cluster-admin", subject });
    const shown = await untilAnswer(
      () => server.get(DISHES, { user: "carol" }),
      (answer) => query(answer).total > 0,
    );
    expect(namesIn(shown)).to.deep.equal(["dish-b", "dish-d"]);
  });

  it("says which shard is away, and ends watches when it comes back", async () => {
    await using stores = new Stores();
    let isThere = true;
    const storeOf = (name: string): Store => {
      if (!isThere) throw new StoreError("Unavailable", `no disk for ${name}`);
      return stores.of(name);
    };
    {
      await using server = await start(stores, { storeOf });
      await fill(server);
    }
    isThere = false;
    // Rights are kept for long: they must be checked again all the same when a shard comes back.
    await using server = await start(stores, { storeOf, authorizeEvery: 600_000 });
    await untilShard(server, "shard-1", "not ready");
    const part = await server.get(`${DISHES}&limit=10`, root);
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "carol" };
    await bind(server, "system:admin", { name: "carol", role: "cluster-admin", subject });
    const ofCarol = await untilAnswer(
      () => server.get(`${DISHES}&countBy=Age`, { user: "carol" }),
      (answer) => query(answer).total === 2,
    );
    expect(query(ofCarol).unavailableShards).to.deep.equal(["shard-1"]);
    expect(namesIn(part)).to.deep.equal(["dish-b", "dish-d"]);
    expect(query(part)).to.deep.include({ total: 2, unavailableShards: ["shard-1"] });
    expect(part.headers["warning"]).to.include("shard shard-1 is not available");
    const { resourceVersion, query: listed } = part.body.metadata;
    await using watch = await server.watch(
      `${DISHES}&limit=10&watch=true&resourceVersion=${resourceVersion}&rights=${listed.rights}`,
      root,
    );
    isThere = true;
    await untilShard(server, "shard-1", "ready");
    const end = (await watch.until(({ type }) => type === "ERROR")).at(-1);
    expect(end?.object).to.deep.include({ code: 410 });
    expectFault(/controller failed .*in-process-shards.*no disk for shard-1/);
    expect(namesIn(await server.get(DISHES, { user: "carol" }))).to.deep.equal(["dish-b", "dish-d"]);
    const whole = await server.get(DISHES, root);
    expect(namesIn(whole)).to.deep.equal(["dish-a", "dish-b", "dish-c", "dish-d"]);
    expect(query(whole).unavailableShards).to.equal(undefined);
  });

  it("covers a shard that is added while a window is watched", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    await fill(server);
    const { body } = await server.get(`${DISHES}&limit=10`, root);
    const { resourceVersion, query: listed } = body.metadata;
    await using watch = await server.watch(
      `${DISHES}&limit=10&watch=true&resourceVersion=${resourceVersion}&rights=${listed.rights}`,
      root,
    );
    await server.send(`POST ${SHARDS}`, shardObject("amber"), root);
    await untilShard(server, "amber", "ready");
    await watch.until(({ type }) => type === "ERROR");
    const third = await makeOn(server, "third", { shard: "amber" });
    await post(server, third, "dish-e");
    const all = await untilAnswer(
      () => server.get(DISHES, root),
      (answer) => query(answer).total === 5,
    );
    expect(namesIn(all).at(-1)).to.equal("dish-e");
  });
});
