// The same for longer, and on etcd.
import { etcdStore, lmdbStore } from "@virtual-workspaces/store";
import { killRounds } from "../../_support/kill-rounds.ts";
import { EtcdCluster, etcdThere } from "../../go/support/etcd.ts";
import { killAgainAndAgain } from "./support/rounds.ts";

describe("a process of workspaces that is killed again and again", function () {
  this.timeout(240_000);

  it("loses nothing, and leaves nothing over, on disk", async () => {
    const store = (dir: string) => lmdbStore({ dir, wait: 10_000 });
    await killAgainAndAgain({ rounds: killRounds(6), seed: 11, store: (server) => store(server.path("data")) });
  });

  it("loses nothing, and leaves nothing over, with two shards on disk", async () => {
    const place = (shard = ""): string => (shard === "" ? "data" : `data-${shard}`);
    await killAgainAndAgain({
      rounds: killRounds(2),
      seed: 17,
      flags: ["--shards=2"],
      shards: ["shard-1"],
      store: (server, shard) => lmdbStore({ dir: server.path(place(shard)), wait: 10_000 }),
    });
  });

  it("loses nothing, and leaves nothing over, with two shards on etcd", async function () {
    await etcdThere("3.4").call(this);
    await using etcd = await EtcdCluster.start({ version: "3.4" });
    const { endpoints } = etcd;
    const prefix = etcd.prefix();
    const place = (shard = ""): string => (shard === "" ? prefix : `${prefix.replace(/\/+$/, "")}-${shard}`);
    await killAgainAndAgain({
      rounds: killRounds(1),
      seed: 19,
      flags: ["--shards=2", "--etcd-servers", endpoints.join(), "--etcd-prefix", prefix],
      shards: ["shard-1"],
      store: (_, shard) => etcdStore({ endpoints, prefix: place(shard) }),
    });
  });

  it("loses nothing, and leaves nothing over, on etcd", async function () {
    await etcdThere("3.4").call(this);
    await using etcd = await EtcdCluster.start({ version: "3.4" });
    const { endpoints } = etcd;
    const prefix = etcd.prefix();
    const flags = ["--etcd-servers", endpoints.join(), "--etcd-prefix", prefix];
    await killAgainAndAgain({ rounds: killRounds(3), seed: 13, flags, store: () => etcdStore({ endpoints, prefix }) });
  });
});
