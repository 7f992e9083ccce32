import { etcdThere, versions } from "../support/etcd.ts";
import { killEtcd, killWriters } from "./kill.ts";

for (const version of versions)
  describe(`kill -9 with etcd ${version}`, function () {
    this.timeout(60_000);
    before(etcdThere(version));

    it("of etcd, under 64 writers, five times: no acknowledged write is lost", () => killEtcd(version, 5));

    it("of our process, with 64 writers, three times: no acknowledged write is lost", () => killWriters(version, 3));
  });
