// Why: with a store on disk, the next server completes an interrupted garbage collection.
import { lmdbStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { ClusterClient, ownerOf } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const NS = "/api/v1/namespaces/old";
const MAPS = `${NS}/configmaps`;

describe("garbage collection over a store on disk", () => {
  it("is completed by the next server, including namespaces", async () => {
    using folder = tree({});
    const each = [...Array(200).keys()];
    {
      await using store = await lmdbStore({ dir: folder.path });
      await using server = await startWorkspaces(store);
      const client = new ClusterClient(server);
      await client.namespace("old");
      const owner = await client.configMap("owner", {}, "old");
      const ownerReferences = [ownerOf(owner, { blockOwnerDeletion: true })];
      await Promise.all(each.map((at) => client.configMap(`child-${at}`, { ownerReferences }, "old")));
      await client.delete(`${MAPS}/owner`, "Foreground");
      await client.configMap("held", { finalizers: ["example.dev/hold"] }, "old");
      await client.delete(NS);
    }
    await using store = await lmdbStore({ dir: folder.path });
    await using server = await startWorkspaces(store);
    const client = new ClusterClient(server);
    const { body } = await client.until(MAPS, (answer) => answer.body.items.length === 1);
    expect(body.items[0].metadata.name).to.equal("held");
    await client.patch(`${MAPS}/held`, { metadata: { finalizers: null } });
    await client.gone(NS);
    expect(await client.names(MAPS)).to.deep.equal([]);
  });
});
