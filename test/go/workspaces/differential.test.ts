// Plays the recordings of Kubernetes in a workspace whose objects are in etcd. One version suffices, because test/go/store
// shows that both store objects alike.
import { answersAsRecorded } from "../../differential/as-recorded.ts";
import { KINDS } from "../../differential/kinds.ts";
import { isOtherInWorkspace, placeless, startInWorkspace } from "../../workspace-server/support/differential.ts";
import { EtcdCluster, etcdThere } from "../support/etcd.ts";

describe("custom kinds in a workspace in etcd answer as Kubernetes does:", function () {
  this.timeout(60_000);
  let cluster: EtcdCluster;

  before(async function () {
    await etcdThere("3.6").call(this);
    cluster = await EtcdCluster.start({ version: "3.6" });
  });

  answersAsRecorded(async () => startInWorkspace(KINDS, await cluster.store()), {
    bare: placeless,
    without: isOtherInWorkspace,
  });

  // Ends after the server, which uses it until its own end.
  after(() => cluster?.[Symbol.asyncDispose]());
});
