// Each shard's controller reconciles the mounted workspaces of its shard, by objects that are there too.
import { workspaceMounts } from "@virtual-workspaces/mounts";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { reportFault } from "../../../_setup/faults.ts";
import { makeOn, Stores, startSharded } from "../../../workspace-server/shards/support.ts";
import { Mounted, mountKind } from "./support/mounted.ts";

const onError = (error: unknown): void => reportFault("mounts", error);

describe("mounted workspaces on several shards", function () {
  this.timeout(60_000);

  it("use the objects of their own logical clusters", async () => {
    await using stores = new Stores();
    const own = loopback();
    await using server = await startSharded(stores, {
      loopback: own,
      shards: {
        virtualWorkspaces: (_, context) => {
          const { upstream } = context.loopback;
          context.controllers.use(workspaceMounts({ upstream, everywhere: own.upstream, onError }));
          return [];
        },
      },
    });
    await using held = Mounted.over(server, own);
    for (const shard of ["root", "shard-1"]) {
      const cluster = await makeOn(server, `on-${shard}`, { shard });
      await held.define(mountKind("KubeCluster"), cluster);
      const ref = { kind: "KubeCluster", name: "a" };
      await held.mount("mounted", ref, { cluster });
      await held.until("mounted", ({ phase }) => phase === "Unavailable", cluster);
      await held.object({ ...ref, cluster }, { phase: "Ready", URL: `https://${shard}.example` });
      const { url } = await held.until("mounted", ({ phase }) => phase === "Ready", cluster);
      expect(url).to.equal(`https://${shard}.example`);
    }
  });
});
