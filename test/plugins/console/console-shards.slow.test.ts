// The console of a front proxy before a server with two shards: the tree, tables over all workspaces, and a shard that is away.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Front } from "../../cli/support/front.ts";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const USERS = 'alice-token,alice,alice,"system:kcp:admin"\nbob-token,bob,bob,\n';
const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

/** Workspace on a shard. */
const workspaceOn = (shard: string, name: string) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: { type: { name: "universal", path: "root" }, location: { selector: { matchLabels: { name: shard } } } },
});
const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { x: "y" } });

type Kubectl = (...args: readonly string[]) => Promise<string>;

/** Applies objects in a workspace. */
async function apply(server: Start, workspace: string, ...items: readonly object[]): Promise<void> {
  const file = join(server.folder.path, "objects.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const answer = await server.kubectl("--server", `${server.url}/clusters/${workspace}`, "apply", "-f", file);
  expect(answer, answer).to.match(/^0 /);
}

/** Makes the workspaces near and far, on a shard each, with dishes. */
async function fill(server: Start): Promise<void> {
  await apply(server, "root", workspaceOn("root", "near"), workspaceOn("shard-1", "far"));
  const ready = ["wait", "workspace", "near", "far", "--for=jsonpath={.status.phase}=Ready"];
  expect(await server.kubectl("--server", `${server.url}/clusters/root`, ...ready)).to.match(/^0 /);
  await apply(server, "root:near", configMap("dish-b"), configMap("dish-d"));
  await apply(server, "root:far", configMap("dish-a"), configMap("dish-c"));
}

describe("the console before several shards", function () {
  this.timeout(120_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
  });
  after(() => browser?.close());

  async function signedIn(url: string, token: string) {
    if (browser === undefined) throw new Error("there is no browser");
    const opened = await openTab(browser, `${url}/console/`);
    await opened.tab.locator('role=textbox[name="Token or kubeconfig"]').fill(token);
    await opened.tab.locator('role=button[name="Sign in"]').click();
    await seen(opened.tab, "role=treeitem[name=/^root/]");
    return opened;
  }

  it("shows the workspaces of all shards with their shard, and one table over all of them, at a front proxy", async () => {
    await using front = await Front.ready({ users: USERS, services: true, own: ["--console"] });
    const { server } = front;
    await fill(server);
    const { tab, faults } = await signedIn(front.url, "alice-token");
    await seen(tab, "role=treeitem[name=/^far .*shard-1/]");
    await seen(tab, "role=treeitem[name=/^near .*root/]");
    await tab.goto(`${front.url}/console/#/workspaces/root/core/v1/configmaps?all=1&search=dish&namespace=default`);
    await seen(tab, "text='4 objects'");
    const rows = async (): Promise<string[]> =>
      (await tab.locator("role=rowheader").allInnerTexts()).filter((text) => text.startsWith("dish"));
    expect(await rows()).to.deep.equal(["dish-a", "dish-b", "dish-c", "dish-d"]);
    await seen(tab, "role=row[name=/dish-a .*root:far/]");
    await seen(tab, "role=row[name=/dish-b .*root:near/]");
    await apply(server, "root:far", configMap("dish-0"));
    await seen(tab, "role=row[name=/dish-0 .*root:far/]");
    await seen(tab, "text='5 objects'");
    expect(await tab.locator("text=/Not available now/").count()).to.equal(0);
    expect(await axeFaults(tab)).to.deep.equal([]);
    // The same list by kubectl, through the proxy.
    const home = front.in("/clusters/root", "alice-token");
    const list = "/services/query/clusters/*/api/v1/namespaces/default/configmaps?search=dish&limit=1";
    const raw: Kubectl = (...args) => server.kubectl("--kubeconfig", home.kubeconfig, ...args);
    expect(await raw("get", "--raw", list)).to.match(/"query":\{"total":5,"offset":0,.*"shards":\["root","shard-1"\]/);
    await tab.goto(`${front.url}/console/#/workspaces/root/core.kcp.io/v1alpha1/shards/object/-/shard-1`);
    await tab.locator("role=tab[name=Shard]").click();
    await tab.locator("role=link[name='Show them']").click();
    await seen(tab, "role=row[name=/cluster .*root:far/]");
    expect(await tab.locator("role=row[name=/root:near/]").count()).to.equal(0);
    faults.expectNone();
    await tab.close();
    const { tab: bob } = await signedIn(front.url, "bob-token");
    await bob.goto(`${front.url}/console/#/workspaces/root/core/v1/configmaps?all=1&search=dish`);
    await seen(bob, "text=/No object matches/");
    await bob.close();
  });

  it("says which shard is away, and shows its objects by itself when it is back", async () => {
    const first = await Start.ready({ flags: ["--shards=2"], files: { "tokens.csv": USERS } });
    await using _folder = first;
    await fill(first);
    expect(await first.end("SIGTERM")).to.equal(0);
    const data = first.path("data-shard-1");
    renameSync(data, `${data}.kept`);
    writeFileSync(data, "no folder");
    await using server = await Start.ready({
      in: first.folder.path,
      flags: ["--shards=2", "--token-auth-file", join(first.folder.path, "tokens.csv")],
    });
    const { tab, faults } = await signedIn(server.url, "alice-token");
    await tab.goto(`${server.url}/console/#/workspaces/root/core/v1/configmaps?all=1&search=dish`);
    await seen(tab, "text=/Not available now: shard-1/");
    await seen(tab, "text='2 objects'");
    renameSync(data, `${data}.wrong`);
    renameSync(`${data}.kept`, data);
    await tab.locator("text=/Not available now/").waitFor({ state: "detached" });
    await seen(tab, "text='4 objects'");
    await seen(tab, "role=row[name=/dish-a .*root:far/]");
    faults.expectNone();
    await tab.close();
  });
});
