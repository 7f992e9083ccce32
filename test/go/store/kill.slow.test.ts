import { etcdThere, versions } from "../support/etcd.ts";
import { killEtcd, killWriters } from "./kill.ts";

for (const version of versions)
  describe(`kill -9 with etcd ${version}`, function () {
    this.timeout(240_000);
    before(etcdThere(version));

    it("of etcd, under 64 writers, 100 times: nothing acknowledged is lost", () => killEtcd(version, 100));

    it("of our process, with 64 writers, 20 times: nothing acknowledged is lost", () => killWriters(version, 20));
  });
