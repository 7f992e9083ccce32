// kcp's multicluster provider and multicluster-runtime, unchanged, over two shards. Their controller is a service account of
// one workspace, and acts on objects in others, which do not know it.
import { expect } from "chai";
import { Start, type StartOptions } from "../cli/support/start.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { kubectl } from "./support/kubectl.ts";
import { asked, Sites, told, twoPorts } from "./support/sites.ts";

describe("kcp's multicluster provider", function () {
  this.timeout(180_000);
  const running = new AsyncDisposableStack();
  let options: StartOptions;
  let server: Start;
  let sites: Sites;

  before(async function () {
    needsKubectl.call(this);
    await building("provider").call(this);
    const at = ["--bind-address=127.0.0.1", `--secure-port=${await twoPorts()}`];
    options = { at, flags: ["--shards=2"] };
    server = running.use(await Start.ready(options));
    sites = await Sites.make(server);
  });
  after(() => running.disposeAsync());

  it("engages workspaces on every shard when they bind, and disengages those that unbind", async () => {
    await using controller = sites.run();
    await controller.event("elected");
    const near = await sites.consumer("near", "root");
    await sites.site("near", "home", "Near");
    await told(controller, "engaged", near);
    await sites.shows("near", "home", "Near");
    const [first = ""] = await sites.endpoints();

    const there = ["--server", `${server.url}/clusters/root:near`, "get", "sites"];
    const refused = await kubectl(
      kubectls()[0] ?? "",
      { home: server.folder.path, kubeconfig: sites.kubeconfig },
      there,
    );
    expect(refused.stderr, "the controller itself, in the workspace").to.match(/Forbidden/);

    const far = await sites.consumer("far", "shard-1");
    await sites.site("far", "home", "Far");
    await told(controller, "engaged", far);
    await sites.shows("far", "home", "Far");
    const urls = await sites.endpoints();
    expect(urls).to.have.length(2).and.include(first);
    expect(await asked(controller, "sites")).to.deep.equal([`${far}/home`, `${near}/home`].sort());

    await sites.in("far", "delete", "apibinding", "sites"); // the deletion waits until the bound objects are cleaned up
    await told(controller, "taken-down", far);
    await told(controller, "disengaged", far);
    expect(await sites.page("far", "home")).to.match(/not found/);
    while ((await sites.endpoints()).length > 1);
    await sites.bind("far");
    await told(controller, "engaged", [far, 2]);
    await sites.site("far", "home", "Far again");
    await sites.shows("far", "home", "Far again");

    await sites.in("", "delete", "workspace", "near");
    await told(controller, "taken-down", near);
    await told(controller, "disengaged", near);
    while ((await sites.endpoints()).includes(first));
    expect(await asked(controller, "sites")).to.deep.equal([`${far}/home`]);
    expect(controller.noise()).to.deep.equal([]);
    await controller.end();
    expect(server.stderr).not.to.match(/ (warn|error) +controller failed/);
  });

  it("keeps claimed objects, sends events, and cleans up; another controller takes over, and knows paths", async () => {
    await using controller = sites.run();
    await controller.event("elected");
    await using other = sites.run("-paths");
    const shop = await sites.consumer("shop", "root");
    await sites.site("shop", "home", "Shop");
    await sites.shows("shop", "home", "Shop");
    await sites.in("shop", "wait", "--for=condition=Ready", "site/home");
    expect(await sites.in("shop", "get", "site", "home", "-o", "jsonpath={.status.page}")).to.equal("home-page");
    const published = /Published +site\/home +"Shop" is published/;
    while (!published.test(await sites.in("shop", "get", "events")));
    await sites.in("shop", "delete", "configmap", "home-page");
    await sites.shows("shop", "home", "Shop");
    await sites.in("shop", "patch", "configmap", "home-page", "--type=merge", "-p", '{"data":{"index.html":"mine"}}');
    await sites.shows("shop", "home", "Shop");
    // Checked before the end, because client-go logs an error when the end interrupts a lease renewal.
    expect(controller.noise()).to.deep.equal([]);
    await controller.end();

    await other.event("elected", undefined, 60_000);
    await told(other, "engaged", shop);
    expect(await asked(other, "root:shop")).to.deep.equal([`${shop}/home`]);
    await sites.in("shop", "patch", "site", "home", "--type=merge", "-p", '{"spec":{"title":"Sale"}}');
    await sites.shows("shop", "home", "Sale");
    await sites.in("shop", "delete", "site", "home");
    expect(await sites.page("shop", "home")).to.match(/not found/);
    expect(other.noise()).to.deep.equal([]);
    await other.end();
  });

  it("continues when the server is killed and restarted: it publishes new objects and cleans up deleted ones", async () => {
    await using controller = sites.run();
    for (const [name, shard] of [
      ["north", "root"],
      ["south", "shard-1"],
    ] as const) {
      await sites.consumer(name, shard);
      await sites.site(name, "home", name);
      await sites.shows(name, "home", name);
    }
    await server.end("SIGKILL");
    sites.server = running.use(await Start.ready({ ...options, in: server.folder.path }));
    for (const name of ["north", "south"]) {
      expect(await sites.page(name, "home")).to.equal(`<h1>${name}</h1>`);
      await sites.site(name, "more", `more in ${name}`);
      await sites.shows(name, "more", `more in ${name}`);
      await sites.in(name, "delete", "site", "home");
      expect(await sites.page(name, "home")).to.match(/not found/);
    }
    // A starting server must report that it is not ready, instead of denying or missing objects and users.
    const noise = controller.noise().map(({ message }) => String(message));
    const wrong = noise.filter((message) => /forbidden|not found|could not find|nauthorized/.test(message));
    expect(wrong.join("\n"), "unexpected log messages").to.equal("");
    expect(controller.all("disengaged"), "disengaged workspaces").to.deep.equal([]);
    await controller.end();
  });
});
