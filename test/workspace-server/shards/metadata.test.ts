// Metadata of all logical clusters at a shard's address covers that shard only.
import { expect } from "chai";
import type { Calls } from "../../_support/plain.ts";
import { gadget, gadgets, paths } from "../faults/support/tree.ts";
import { ClusterClient } from "../support/objects.ts";
import { makeOn, namesIn, Stores, shardAt, startSharded } from "./support.ts";

const GADGETS = "/apis/own.dev/v1/gadgets";
const LIST = {
  user: "root",
  headers: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
};

async function furnish(at: Calls, cluster: string, name: string): Promise<void> {
  const client = new ClusterClient(at, cluster);
  await client.create(paths.CRDS, gadgets());
  await client.until(GADGETS, ({ status }) => status === 200);
  await client.create(GADGETS, gadget(name));
}

describe("metadata over /clusters/* at a shard", function () {
  this.timeout(60_000);

  it("has the objects of that shard, and no kind that only another one has", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const [far, near] = [
      await makeOn(server, "far", { shard: "shard-1" }),
      await makeOn(server, "near", { shard: "root" }),
    ];
    const shard = await shardAt(server, "shard-1");
    const all = `/clusters/*${GADGETS}`;
    await furnish(shard, far, "f");
    expect(namesIn(await shard.get(all, LIST))).to.deep.equal(["f"]);
    expect((await server.get(all, LIST)).status).to.equal(404);
    await furnish(server, near, "n");
    expect(namesIn(await shard.get(all, LIST))).to.deep.equal(["f"]);
    expect(namesIn(await server.get(all, LIST))).to.deep.equal(["n"]);
    expect((await shard.get(all, { ...LIST, user: "admin" })).status).to.equal(403);
  });
});
