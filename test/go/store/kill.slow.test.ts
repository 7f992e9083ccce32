import { killRounds } from "../../_support/kill-rounds.ts";
import { etcdThere, versions } from "../support/etcd.ts";
import { killEtcd, killWriters } from "./kill.ts";

/** Rounds for each version. */
const [OF_ETCD, OURS] = [killRounds(100), killRounds(20)];

for (const version of versions)
  describe(`kill -9 with etcd ${version}`, function () {
    this.timeout(240_000);
    before(etcdThere(version));

    it(`of etcd, under 64 writers, ${OF_ETCD} times: no acknowledged write is lost`, () => killEtcd(version, OF_ETCD));

    it(`of our process, with 64 writers, ${OURS} times: no acknowledged write is lost`, () =>
      killWriters(version, OURS));
  });
