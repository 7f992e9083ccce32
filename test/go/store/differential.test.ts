// Plays the recordings of Kubernetes' own server over objects in etcd: the choice of store makes no difference.
import { answersAsRecorded } from "../../differential/as-recorded.ts";
import { KINDS } from "../../differential/kinds.ts";
import { startOverStore } from "../../differential/subject.ts";
import { EtcdCluster, etcdThere, versions } from "../support/etcd.ts";

for (const version of versions)
  describe(`objects in etcd ${version} answer as Kubernetes does:`, function () {
    this.timeout(60_000);
    let cluster: EtcdCluster;

    before(async function () {
      await etcdThere(version).call(this);
      cluster = await EtcdCluster.start({ version });
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    answersAsRecorded(async () => startOverStore(KINDS, await cluster.store({ prefix: cluster.prefix() })));
  });
