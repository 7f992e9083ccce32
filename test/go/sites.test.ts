// Go twin of examples/controller.ts: the same users see the same results, also when both run.
import { expect } from "chai";
import { ours, Sites, type StartController } from "../e2e/support/sites.ts";
import { play, playRestart } from "../e2e/support/sites-played.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";

const twin: StartController = (kubeconfig) => GoClient.start("sites", { kubeconfig });

describe("the Go twin of examples/controller.ts", function () {
  this.timeout(180_000);
  before(building("clients"));

  for (const shards of [["root"], ["root", "shard-1"]])
    it(`reconciles users' changes in workspaces of ${shards.join(" and ")}`, async () => {
      await using sites = await Sites.ready(shards.length);
      await play(sites, twin, shards);
    });

  it("continues after a restart of all shards", async () => {
    await using sites = await Sites.ready(2);
    await playRestart(sites, twin);
  });

  it("is denied in the workspace itself, and reads, watches and writes the same through the view", async () => {
    await using sites = await Sites.ready(1);
    const cluster = await sites.workspace("shop", "root");
    await sites.bind("shop");
    await sites.make("shop", "home", "hello");
    const [url = ""] = await sites.urls(1);
    const flags = { resource: "sites.v1.sites.example.dev" };
    const direct = sites.accountAt(`${sites.server.url}/clusters/${cluster}`, "direct");
    await using refused = GoClient.start("informer", { kubeconfig: direct, flags });
    await refused.event("request", ({ verb, code }) => verb === "get" && code === 403, 20_000);
    expect(refused.all("request").map(({ code }) => code)).to.not.include(200);
    expect(refused.all("added")).to.deep.equal([]);

    const view = sites.accountAt(`${url}/clusters/*`, "view");
    await using informer = GoClient.start("informer", { kubeconfig: view, flags });
    await informer.event("added", ({ key }) => key === "default/home");
    await using controller = twin(sites.account);
    await informer.event("updated", ({ key }) => key === "default/home");
    await sites.published("shop", "home", "hello");
    controller.signal("SIGTERM");
    expect((await controller.ended).code).to.equal(0);
    await informer.end();
  });

  it("does not fight with the original when both run", async () => {
    await using sites = await Sites.ready(1);
    await sites.workspace("one", "root");
    await sites.bind("one");
    await using one = twin(sites.account);
    await using other = ours(sites.account);
    const names = ["a", "b", "c", "d"];
    for (const name of names) await sites.make("one", name, "first");
    for (const name of names) await sites.published("one", name, "first");
    const versions = ["get", "site,configmap", "-l", "!none", "-o", "jsonpath={.items[*].metadata.resourceVersion}"];
    const settled = await sites.user("one", ...versions);
    // A pending write to the other sites would take place before this one is published.
    await sites.make("one", "last", "last");
    await sites.published("one", "last", "last");
    for (const version of settled.split(" ")) expect(await sites.user("one", ...versions)).to.include(version);
    for (const name of names) expect(await sites.user("one", "delete", "site", name)).to.match(/deleted/);
    for (const name of names) await sites.gone("one", name);
    expect((one as GoClient).all("failed")).to.deep.equal([]);
    other.signal("SIGTERM");
    expect((await other.ended).code).to.equal(0);
    expect(other.stderr).to.equal("");
  });
});
