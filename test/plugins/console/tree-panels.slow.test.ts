// What panels with objects in the tree cost a page over many workspaces that all bind their API: two lists of names for each resource, and
// the objects of open workspaces only. MANY=10000 for the figures of decision 55.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lmdbStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { copyWorkspaces, workspaceName } from "../../../bench/_servers/workspace-copies.ts";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const MANY = Number(process.env["MANY"] ?? "1000");
/** The workspace that is copied: names of copies are as long. */
const SAMPLE = "w-sample-0000000";
const WORKSPACE = {
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name: SAMPLE },
  spec: {},
};
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "cluster.proxy.kcp.io" },
  spec: { reference: { export: { path: "root", name: "cluster.proxy.kcp.io" } } },
};
const PROXY = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name: "far" } };
const FLAGS = ["--batteries-included=+cluster-proxy,+spaces"];
/** Bytes of a binding in a list of names, at most; a whole one has more than 2,000. */
const BYTES = 1_300;
const OPENED = 3;
const PANEL = `export default {
  ...{ name: "all", title: "All", for: { virtualWorkspace: "cluster-proxy" } },
  module: new URL("./all-panel.js", import.meta.url),
};`;
const MODULE = `export const mount = (element, { client }) => {
  const proxies = { group: "proxy.kcp.io", version: "v1alpha1", resource: "clusterproxies", everywhere: true };
  client.watch(proxies, ({ items, state }) => (element.textContent = items.length + " proxies, " + state));
};`;

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

interface Loaded {
  readonly path: string;
  readonly bytes: number;
}

/** Answers that the page has got so far. */
const LOADED = `performance.getEntriesByType("resource").map(({ name, decodedBodySize }) =>
  ({ path: decodeURIComponent(new URL(name).pathname), bytes: decodedBodySize }))`;

describe(`panels in a tree of ${MANY.toLocaleString("en")} workspaces`, function () {
  this.timeout(300_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let server: Start;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };
  let folder = "";

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    const first = await Start.ready({ flags: FLAGS });
    ({ path: folder } = first.folder);
    await fill(first);
    writeFileSync(join(folder, "all.js"), PANEL);
    writeFileSync(join(folder, "all-panel.js"), MODULE);
    const flags = [...FLAGS, `--console-panel=${join(folder, "all.js")}`];
    server = await Start.ready({ in: folder, flags, within: 120_000 });
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await tab.evaluate("performance.setResourceTimingBufferSize(10000)");
    await seen(tab, `role=treeitem[name=/^${workspaceName(0)}/]`);
  });
  after(async () => {
    await browser?.close();
    await server?.end("SIGTERM");
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
  });

  /** Makes a workspace with a ClusterProxy, ends the server, and copies the workspace in its store. */
  async function fill(first: Start): Promise<void> {
    const run = async (...args: readonly string[]): Promise<string> => {
      const answer = await first.kubectl(...args);
      expect(answer, answer).to.match(/^0 /);
      return answer.slice(2);
    };
    const apply = (where: string, object: object): Promise<string> => {
      const file = join(folder, "object.json");
      writeFileSync(file, JSON.stringify(object));
      return run("--server", `${first.url}/clusters/${where}`, "apply", "-f", file);
    };
    await apply("root", WORKSPACE);
    await run("wait", "workspace", SAMPLE, "--for=jsonpath={.status.phase}=Ready");
    const cluster = await run("get", "workspace", SAMPLE, "-o", "jsonpath={.spec.cluster}");
    const inside = ["--server", `${first.url}/clusters/${cluster}`] as const;
    await apply(cluster, BINDING);
    await run(...inside, "wait", "apibinding", BINDING.metadata.name, "--for=jsonpath={.status.phase}=Bound");
    await apply(cluster, PROXY);
    expect(await first.end("SIGTERM")).to.equal(0);
    await using store = await lmdbStore({ dir: first.path("data") });
    await copyWorkspaces(store, { cluster, name: SAMPLE }, { first: 0, count: MANY });
  }

  const loaded = async (part: string): Promise<readonly Loaded[]> =>
    (await tab.evaluate<Loaded[]>(LOADED)).filter(({ path }) => path.includes(part));

  it("read the names of the bindings of all workspaces, in pages, and no object of a closed workspace", async () => {
    await tab.locator(`role=treeitem[name=/^${workspaceName(0)}/] >> [data-toggle]`).click();
    // All pages of the list have come.
    await seen(tab, "role=treeitem[name=/^far.*ClusterProxy/]");
    const bindings = await loaded("/services/query/clusters/*/apis/apis.kcp.io/v1alpha2/apibindings");
    const bytes = bindings.reduce((sum, one) => sum + one.bytes, 0);
    expect(bytes / MANY, "bytes of a binding").to.be.within(100, BYTES);
    // A list of Spaces and one of ClusterProxies, with 500 objects a page.
    expect(bindings.length).to.be.at.most(2 * (Math.ceil((MANY + 1) / 500) + 1));
    expect(await loaded("/clusterproxies")).to.have.length(1);
    expect(await loaded("/spaces")).to.have.length(0);
    faults.expectNone();
  });

  it("read the objects of each workspace that is opened, once", async () => {
    for (let at = 1; at < OPENED; at++) {
      await tab.locator(`role=treeitem[name=/^${workspaceName(at)}/] >> [data-toggle]`).click();
      await tab.locator("role=treeitem[name=/^far.*ClusterProxy/]").locator(`nth=${at}`).waitFor();
    }
    expect(await loaded("/clusterproxies")).to.have.length(OPENED);
    faults.expectNone();
  });

  it("read the objects of all workspaces by one list, with those that come", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root?view=views&of=cluster-proxy`);
    await seen(tab, `text="${MANY + 1} proxies, live"`);
    const lists = (await loaded("/clusterproxies")).slice(OPENED);
    expect(
      lists.map(({ path }) => path).filter((path) => !/clusters\/\*\/.*\/clusterproxies:/.test(path)),
    ).to.deep.equal([]);
    expect(lists.length).to.equal(Math.ceil((MANY + 1) / 500));
    const sample = ["--server", `${server.url}/clusters/root:${SAMPLE}`] as const;
    expect(await server.kubectl(...sample, "delete", "clusterproxy", "far")).to.match(/^0 /);
    await seen(tab, `text="${MANY} proxies, live"`);
    faults.expectNone();
  });
});
