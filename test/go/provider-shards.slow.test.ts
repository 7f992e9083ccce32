// kcp's multicluster provider while shards appear, disappear and return, and while their store is unavailable.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Start } from "../cli/support/start.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { EtcdCluster, etcdThere } from "./support/etcd.ts";
import { asked, Sites, told, twoPorts } from "./support/sites.ts";

const SHARD = {
  apiVersion: "core.kcp.io/v1alpha1",
  kind: "Shard",
  metadata: { name: "shard-1", annotations: { "virtual-workspaces.io/in-process": "true" } },
};

describe("kcp's multicluster provider and shards", function () {
  this.timeout(240_000);
  before(async function () {
    needsKubectl.call(this);
    await building("provider").call(this);
  });

  it("engages workspaces on a new shard, disengages those that go, and engages them when the shard returns", async () => {
    const at = ["--bind-address=127.0.0.1", `--secure-port=${await twoPorts()}`];
    await using server = await Start.ready({ at });
    const sites = await Sites.make(server);
    await using controller = sites.run();
    await controller.event("elected");
    const near = await sites.consumer("near", "root");
    const shard = join(server.folder.path, "shard.json");
    writeFileSync(shard, JSON.stringify(SHARD));
    const urls: string[][] = [];
    for (const name of ["first", "second"]) {
      await sites.in("", "create", "-f", shard);
      await sites.in("", "wait", "--for=condition=Ready", "shard/shard-1");
      const far = await sites.consumer("far", "shard-1");
      await told(controller, "engaged", far);
      urls.push(await sites.endpoints());
      await sites.site("far", "home", name);
      await sites.shows("far", "home", name);
      expect(await asked(controller, "sites")).to.deep.equal([`${far}/home`]);
      await sites.in("", "delete", "workspace", "far");
      await told(controller, "disengaged", far);
      while ((await sites.endpoints()).length > 1);
      await sites.in("", "delete", "shard", "shard-1");
      await sites.site("near", name, name);
      await sites.shows("near", name, name);
      await sites.in("near", "delete", "site", name);
    }
    expect(urls[0]).to.have.length(2).and.deep.equal(urls[1]);
    expect(controller.all("disengaged").filter(({ cluster }) => cluster === near)).to.deep.equal([]);
    expect(controller.noise()).to.deep.equal([]);
    await controller.end();
  });

  it("continues after their store was unavailable", async function () {
    await etcdThere("3.4").call(this);
    await using etcd = await EtcdCluster.start({ version: "3.4" });
    const flags = ["--shards=2", "--etcd-servers", etcd.endpoints.join(), "--etcd-prefix", etcd.prefix()];
    await using server = await Start.ready({ flags });
    const sites = await Sites.make(server);
    await using controller = sites.run();
    const far = await sites.consumer("far", "shard-1");
    await sites.site("far", "home", "Before");
    await sites.shows("far", "home", "Before");
    await etcd.kill();
    while ((await server.get("/readyz/shards")).code !== 503);
    etcd.launch();
    while ((await server.get("/readyz")).code !== 200);
    await sites.in("far", "patch", "site", "home", "--type=merge", "-p", '{"spec":{"title":"After"}}');
    await sites.shows("far", "home", "After");
    await sites.in("far", "delete", "site", "home");
    await told(controller, "taken-down", far);
    expect(controller.all("disengaged"), "disengaged workspaces").to.deep.equal([]);
    await controller.end();
  });
});
