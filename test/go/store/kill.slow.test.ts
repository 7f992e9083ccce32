import { killRounds } from "../../_support/kill-rounds.ts";
import { etcdThere, versions } from "../support/etcd.ts";
import { killEtcd, killWriters } from "./kill.ts";

/** Of each version. */
const [OF_ETCD, OURS] = [killRounds(100), killRounds(20)];

for (const version of versions)
  describe(`kill -9 with etcd ${version}`, function () {
    this.timeout(240_000);
    before(etcdThere(version));

    it(`of etcd, under 64 writers, ${OF_ETCD} times: nothing acknowledged is lost`, () => killEtcd(version, OF_ETCD));

    it(`of our process, with 64 writers, ${OURS} times: nothing acknowledged is lost`, () =>
      killWriters(version, OURS));
  });
