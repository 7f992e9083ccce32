// Two shards of one process that have not read all workspaces: a lookup asks each of them.
import type { Store } from "@virtual-workspaces/store";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { signingKey } from "../../../_support/issuer.ts";
import { type ShardedOptions, Stores, shardAt } from "../../shards/support.ts";
import { pemOf } from "../../support/accounts.ts";
import { ClusterClient } from "../../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../support/workspaces.ts";
import { EVERYWHERE, HeldStore } from "./support/held-store.ts";
import { askTree, make, makeTree, type Tree, USERS, WORKSPACES } from "./support/tree.ts";

describe("a server with two shards before their complete read", function () {
  this.timeout(60_000);
  const stores = new Stores();
  const serviceAccountKeys = new ServiceAccountKeys({ signing: pemOf(signingKey().privateKey, "pkcs8") });
  let tree: Tree;
  let expected: Record<string, unknown>;
  const options: ShardedOptions = { users: USERS, serviceAccountKeys };
  const start = (storeOf: (name: string) => Store): Promise<Workspaces> =>
    startWorkspaces(storeOf("root"), { ...options, shards: { names: ["shard-1"], storeOf } });

  before(async () => {
    await using server = await start((name) => stores.of(name));
    tree = await makeTree(server, "shard-1");
    expected = await askTree(server, tree);
  });

  after(() => stores[Symbol.asyncDispose]());

  for (const [which, names] of [
    ["both shards are incomplete", ["root", "shard-1"]],
    ["root is incomplete", ["root"]],
    ["shard-1 is incomplete", ["shard-1"]],
  ] as const)
    it(`answers like a complete one while ${which}`, async () => {
      const held = new Map(names.map((name) => [name as string, new HeldStore(stores.of(name), EVERYWHERE)]));
      await using server = await start((name) => held.get(name)?.store ?? stores.of(name));
      expect(await askTree(server, tree)).to.deep.equal(expected);
      for (const { waiting } of held.values()) expect(waiting, "it is still being read").to.be.greaterThan(0);
      for (const each of held.values()) each.release();
    });

  it("creates workspaces on either, and loses none; each shard returns an error for the other's", async () => {
    const held = new Map(["root", "shard-1"].map((name) => [name, new HeldStore(stores.of(name), EVERYWHERE)]));
    await using server = await start((name) => held.get(name)?.store ?? stores.of(name));
    const map = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
    for (const shard of ["root", "shard-1"]) {
      const cluster = await make(server, `on-${shard}`, { at: "root:own", shard });
      expect((await server.get(`/clusters/${cluster}${map}`, { user: "root" })).status).to.equal(200);
    }
    const other = await shardAt(server, "shard-1");
    const code = async (path: string) => (await other.get(path, { user: "root" })).status;
    expect([await code(`/clusters/root:own${map}`), await code(`/clusters/root:provider${map}`)]).to.deep.equal([
      200, 429,
    ]);
    // Existing workspaces do not count as gone for controllers that check them now.
    const parent = new ClusterClient(server);
    for (const name of ["own", "consumer", "provider"]) {
      await parent.patch(`${WORKSPACES}/${name}`, { metadata: { annotations: { looked: "at" } } });
      const { body } = await parent.get(`${WORKSPACES}/${name}`);
      expect(body.status.phase).to.equal("Ready");
    }
    for (const each of held.values()) each.release();
    expect((await server.get("/clusters/*/api/v1/configmaps?limit=1", { user: "root" })).status).to.equal(200);
    expect(await askTree(server, tree)).to.deep.equal(expected);
  });
});
