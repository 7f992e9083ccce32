import { expect } from "chai";
import { EtcdCluster, etcdThere, versions } from "../support/etcd.ts";
import { Load } from "./load.ts";

/** Members that are killed or stopped in turn, whether or not they lead or serve the client. */
const victims = { "3.4": [0], "3.6": [0, 1] };

for (const version of versions)
  describe(`three members of etcd ${version} under 64 writers`, function () {
    this.timeout(60_000);
    before(etcdThere(version));

    it("continue when one is killed and returns, and lose no acknowledged write", async () => {
      await using cluster = await EtcdCluster.start({ version, members: 3 });
      await using store = await cluster.store();
      const load = await Load.start(store);
      for (const victim of victims[version]) {
        await load.more(300);
        await cluster.kill(victim);
        await load.more(300);
        cluster.launch(victim);
      }
      await load.more(300);
      await load.end();
    });

    it("continue when one hangs and recovers, and lose no acknowledged write", async () => {
      await using cluster = await EtcdCluster.start({ version, members: 3 });
      await using store = await cluster.store();
      const load = await Load.start(store);
      for (const victim of victims[version]) {
        await load.more(300);
        cluster.signal("SIGSTOP", victim);
        const stopped = performance.now();
        await load.more(300);
        expect(performance.now() - stopped, "ms without service").to.be.below(8000);
        cluster.signal("SIGCONT", victim);
      }
      await load.more(300);
      await load.end();
    });

    if (version === "3.6")
      it("use a member that hung again when another one is gone", async () => {
        await using cluster = await EtcdCluster.start({ version, members: 3 });
        await using store = await cluster.store({ endpoints: cluster.endpoints.slice(0, 2) });
        const load = await Load.start(store);
        for (const [hung, gone] of [
          [0, 1],
          [1, 0],
        ]) {
          await load.more(100);
          cluster.signal("SIGSTOP", hung);
          await load.more(100);
          cluster.signal("SIGCONT", hung);
          await load.more(100);
          await cluster.kill(gone);
          await load.more(300);
          cluster.launch(gone);
        }
        await load.end();
      });
  });
