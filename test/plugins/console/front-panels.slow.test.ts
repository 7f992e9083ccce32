// Panels in the console of a front proxy before shards whose plugins bring them: tree rows, pages, and workers of which any may answer.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Front } from "../../cli/support/front.ts";
import { sendAlone } from "../../cli/support/workers.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const USERS = 'alice-token,alice,alice,"system:kcp:admin"\n';
const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

const space = (name: string) => ({
  apiVersion: "space.kubestellar.io/v1alpha1",
  kind: "Space",
  metadata: { name, namespace: "default" },
  spec: {},
});
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "cluster.proxy.kcp.io" },
  spec: { reference: { export: { path: "root", name: "cluster.proxy.kcp.io" } } },
};
const PROXY = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name: "far" } };
const PROXY_PAGE = "root/proxy.kcp.io/v1alpha1/clusterproxies/object/-/far?view=panel-cluster-proxy";

/** URLs of the files of panels that the page has loaded. */
const MODULES = `performance.getEntriesByType("resource").map(({ name }) => name)
  .filter((name) => name.includes("/console/panels/"))`;

for (const own of [["--console"], ["--workers=2", "--console"]])
  describe(`panels in the console of front-proxy ${own.join(" ")}`, function () {
    this.timeout(120_000);
    let browser: Awaited<ReturnType<typeof startBrowser>>;
    let front: Front;
    let tab: ConsoleTab;
    let faults: { expectNone(): void };

    before(async function () {
      await ensureInstalled(join(root, "tools/docs"));
      const { ok, output } = await ensureConsole();
      expect(ok, output).to.equal(true);
      browser = await startBrowser();
      if (browser === undefined) return this.skip();
      const flags = ["--batteries-included=+cluster-proxy,+spaces"];
      front = await Front.ready({ users: USERS, services: true, flags, own });
      ({ tab, faults } = await signedIn());
    });
    after(async () => {
      await browser?.close();
      await front?.[Symbol.asyncDispose]();
    });
    afterEach(() => faults?.expectNone());

    /** Opens a tab of a browser profile of its own, whose connections are new. */
    async function signedIn() {
      if (browser === undefined) throw new Error("there is no browser");
      const opened = await openTab(browser, `${front.url}/console/`);
      await opened.tab.locator('role=textbox[name="Token or kubeconfig"]').fill("alice-token");
      await opened.tab.locator('role=button[name="Sign in"]').click();
      await seen(opened.tab, "role=treeitem[name=/^root/]");
      return opened;
    }
    /** Runs kubectl in a workspace, through the proxy. */
    async function kubectl(workspace: string, ...args: readonly string[]): Promise<void> {
      const { kubeconfig } = front.in(`/clusters/${workspace}`, "alice-token");
      const answer = await front.server.kubectl("--kubeconfig", kubeconfig, ...args);
      expect(answer, answer).to.match(/^0 /);
    }
    async function apply(workspace: string, object: object): Promise<void> {
      const file = join(front.folder.path, "object.json");
      writeFileSync(file, JSON.stringify(object));
      await kubectl(workspace, "apply", "-f", file);
    }
    const open = (hash: string): Promise<unknown> => tab.goto(`${front.url}/console/#/workspaces/${hash}`);

    it("show a Space in the tree, live, whose page has its state and its URL", async () => {
      await seen(tab, "role=treeitem[name=/^spaces/]");
      await tab.locator("role=treeitem[name=/^spaces/] >> [data-toggle]").click();
      await apply("root:spaces", space("shop"));
      await seen(tab, "role=treeitem[name=/^shop.*Space/]");
      await tab.locator("role=treeitem[name=/^shop.*Space/]").click();
      await seen(tab, "role=tab[name=Space][selected]");
      await seen(tab, "[data-panel] .badge.good >> text=Ready");
      await seen(tab, "[data-panel] .badge.good >> text='Reachable'");
      await seen(tab, "[data-panel] code >> text=/\\/services\\/spaces\\/default\\/shop$/");
      await kubectl("root:spaces", "delete", "space", "shop", "--wait=false");
      await gone(tab, "role=treeitem[name=/^shop.*Space/]");
    });

    it("show a ClusterProxy in the tree, live, whose page has the command with which an agent enrolls", async () => {
      await apply("root", BINDING);
      await kubectl("root", "wait", "apibinding", BINDING.metadata.name, "--for=jsonpath={.status.phase}=Bound");
      await apply("root", PROXY);
      await seen(tab, "role=treeitem[name=/^far.*ClusterProxy/]");
      await tab.locator("role=treeitem[name=/^far.*ClusterProxy/]").click();
      await seen(tab, "role=tab[name=Agent][selected]");
      await seen(tab, "[data-panel] .badge.failed >> text='Not connected'");
      await seen(tab, "text='virtual-workspaces agent token far > bootstrap.kubeconfig'");
      await seen(tab, "[data-panel] code >> text=/\\/services\\/clusterproxy\\//");
    });

    it("list the Spaces of all workspaces on the page of their view, live", async () => {
      await open("root?view=views&of=spaces");
      await apply("root:spaces", space("bar"));
      await seen(tab, "role=row[name=/^bar default managed Ready/]");
      expect(await axeFaults(tab)).to.deep.equal([]);
    });

    it("load for each connection, from whichever worker answers", async () => {
      const modules = new Set<string>();
      for (let turn = 0; turn < 3; turn++) {
        const { tab: second, faults: others } = await signedIn();
        await second.goto(`${front.url}/console/#/workspaces/${PROXY_PAGE}`);
        await seen(second, "[data-panel] .badge.failed >> text='Not connected'");
        for (const url of await second.evaluate<string[]>(MODULES)) modules.add(url);
        others.expectNone();
        await second.close();
      }
      // All workers name the same files, and each of them has all.
      expect([...modules].filter((url) => url.includes("/cluster-proxy/"))).to.have.length(modules.size);
      expect(modules.size).to.be.above(0);
      for (const url of modules) {
        const answers = await Promise.all([1, 2, 3, 4].map(() => sendAlone(url, front.ca, {})));
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
        expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      }
    });
  });
