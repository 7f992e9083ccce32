// Logins by workspace type, with the workspace, the type and the server on several shards.
import { expect } from "chai";
import { TestIssuer } from "../../_support/issuer.ts";
import { makeAdmin } from "../support/logical-clusters.ts";
import { configure, makeType, mapped } from "../support/logins.ts";
import { CONFIG_MAPS, makeOn, Stores, shardAt, startSharded } from "./support.ts";

describe("issuers of types on another shard", function () {
  this.timeout(30_000);

  it("let their users into the workspace at the server and at its shard, also after a restart", async () => {
    await using stores = new Stores();
    await using issuer = await TestIssuer.start();
    let cluster = "";
    {
      await using server = await startSharded(stores, { workspaceAuthentication: {} });
      await configure(server, "a", [mapped(issuer, "a:")]);
      await makeType(server, "of-a", ["a"]);
      cluster = await makeOn(server, "far", { shard: "shard-1", type: "of-a" });
      await makeAdmin(server, cluster, "a:jane");
    }
    await using server = await startSharded(stores, { workspaceAuthentication: {} });
    const user = issuer.token();
    const own = await shardAt(server, "shard-1");
    for (const calls of [server, own])
      for (const [place, code] of [
        [cluster, 200],
        ["root:far", 200],
        ["root", 401],
        ["*", 401],
      ] as const)
        expect((await calls.get(`/clusters/${place}${CONFIG_MAPS}`, { user })).status, place).to.equal(code);
  });
});
