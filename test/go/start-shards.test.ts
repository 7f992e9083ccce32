// `virtual-workspaces start --shards` on one etcd: each shard has its own keys, and all survive a crash, also of etcd.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Start } from "../cli/support/start.ts";
import { EtcdCluster, etcdThere } from "./support/etcd.ts";

const FAR = {
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name: "far" },
  spec: { type: { name: "universal", path: "root" }, location: { selector: { matchLabels: { name: "shard-1" } } } },
};

describe("shards of one process on etcd", function () {
  this.timeout(120_000);
  before(etcdThere("3.4"));

  it("have keys of their own, and return after a crash", async () => {
    await using etcd = await EtcdCluster.start({ version: "3.4" });
    const prefix = etcd.prefix();
    const flags = ["--shards=2", "--etcd-servers", etcd.endpoints.join(), "--etcd-prefix", prefix];
    await using first = await Start.ready({ flags });
    const file = join(first.folder.path, "far.json");
    writeFileSync(file, JSON.stringify(FAR));
    expect(await first.kubectl("create", "-f", file)).to.match(/^0 /);
    expect(await first.kubectl("wait", "--for=jsonpath={.status.phase}=Ready", "workspace/far")).to.match(/^0 /);
    const far = (server: Start) => ["--server", `${server.url}/clusters/root:far`];
    expect(await first.kubectl(...far(first), "create", "configmap", "settings")).to.match(/^0 /);
    await first.end("SIGKILL");
    await using root = await etcd.store({ prefix });
    await using shard = await etcd.store({ prefix: `${prefix}-shard-1` });
    const kept = async (store: typeof root) => {
      const { entries } = await store.range({ from: "\u0001", to: "\uffff" });
      return entries.filter(({ key }) => key.includes("configmaps") && key.endsWith("settings")).length;
    };
    expect([await kept(root), await kept(shard)]).to.deep.equal([0, 1]);
    await using second = await Start.ready({ flags });
    expect(await second.kubectl(...far(second), "get", "configmap", "settings", "-o", "name")).to.equal(
      "0 configmap/settings",
    );
    await etcd.kill();
    while ((await second.get("/readyz/shards")).code !== 503);
    etcd.launch();
    while ((await second.get("/readyz")).code !== 200);
    expect(await second.kubectl(...far(second), "create", "configmap", "more")).to.match(/^0 /);
    expect(await second.end("SIGTERM")).to.equal(0);
  });
});
