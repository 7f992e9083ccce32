// The same as test/cli/start-killed.slow.test.ts, on etcd.
import { playScenario } from "../../workspace-server/faults/support/scenario.ts";
import { EtcdCluster, etcdThere } from "../support/etcd.ts";

describe("workspaces on etcd, used with kubectl while the server is killed again and again", () => {
  before(etcdThere("3.4"));

  it("keep their tree, kinds with rules, permissions, an export in two of them and a rejected claim unchanged", async () => {
    await using etcd = await EtcdCluster.start({ version: "3.4" });
    await playScenario([`--etcd-servers=${etcd.endpoints.join()}`, `--etcd-prefix=${etcd.prefix()}`]);
  }).timeout(120_000);
});
