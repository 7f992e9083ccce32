// The panels that the plugins of cluster proxies and of Spaces bring: on the console of `start`, and with hostile objects.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterProxyPanels } from "@virtual-workspaces/cluster-proxy/panels";
import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { Space } from "@virtual-workspaces/spaces";
import { spacesPanels } from "@virtual-workspaces/spaces/panels";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { tree } from "../../_setup/tree.ts";
import { Start } from "../../cli/support/start.ts";
import { startConsole } from "./support/console-server.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

const SPACE = {
  apiVersion: "space.kubestellar.io/v1alpha1",
  kind: "Space",
  metadata: { name: "shop", namespace: "default" },
  spec: {},
};
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "cluster.proxy.kcp.io" },
  spec: { reference: { export: { path: "root", name: "cluster.proxy.kcp.io" } } },
};
const PROXY = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name: "far" } };
const SPACE_PAGE = "root:spaces/space.kubestellar.io/v1alpha1/spaces/object/default/shop?view=panel-space";
const ON_SPACE_PAGE = /spaces\/object\/default\/shop\?.*view=panel-space$/;
const PROVIDER_PAGE =
  "root:spaces/space.kubestellar.io/v1alpha1/spaceproviderdescs/object/-/default?view=panel-space-provider";
const PROXY_PAGE = "root/proxy.kcp.io/v1alpha1/clusterproxies/object/-/far?view=panel-cluster-proxy";
const VIEW_PAGE = "root?view=views&of=spaces";

describe("panels of plugins in the console", function () {
  this.timeout(120_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let server: Start;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    const elsewhere = `--console-panel=${join(root, "examples/panels/polls.ts")}`;
    server = await Start.ready({ flags: ["--batteries-included=+cluster-proxy,+spaces", elsewhere] });
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  async function kubectl(workspace: string, ...args: readonly string[]): Promise<void> {
    const answer = await server.kubectl("--server", `${server.url}/clusters/${workspace}`, ...args);
    expect(answer, answer).to.match(/^0 /);
  }
  async function apply(workspace: string, object: object): Promise<void> {
    const file = join(server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    await kubectl(workspace, "apply", "-f", file);
  }
  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/#/workspaces/${hash}`);

  it("show a Space in the tree, live, which leads to its page", async () => {
    await open("root:spaces");
    await seen(tab, "role=treeitem[name=/^spaces/]");
    await tab.locator("role=treeitem[name=/^spaces/] >> [data-toggle]").click();
    await apply("root:spaces", SPACE);
    await seen(tab, "role=treeitem[name=/^shop.*Space/]");
    await tab.locator("role=treeitem[name=/^shop.*Space/]").click();
    await seen(tab, "role=tab[name=Space][selected]");
    expect(tab.url()).to.match(ON_SPACE_PAGE);
  });

  it("show the state of a Space, that it can be reached, its Secrets and its URL with a kubeconfig", async () => {
    await seen(tab, "[data-panel] .badge.good >> text=Ready");
    await seen(tab, "[data-panel] .badge.good >> text='Reachable'");
    await seen(tab, "[data-panel] >> text=/v1[.]/");
    await seen(tab, `[data-panel] code >> text='${server.url}/services/spaces/default/shop'`);
    await seen(tab, "[data-panel] >> role=button[name=/^Copy kubeconfig/]");
    await tab.locator("[data-panel] >> role=button[name='Check again']").click();
    await seen(tab, "[data-panel] .badge.good >> text='Reachable'");
    await tab.locator("[data-panel] >> role=link[name='default/external-shop']").click();
    await seen(tab, "role=heading[name=external-shop]");
  });

  it("list the Spaces of a provider and of all workspaces, live", async () => {
    for (const hash of [PROVIDER_PAGE, VIEW_PAGE]) {
      await open(hash);
      await seen(tab, "role=row[name=/^shop default managed Ready/]");
    }
    await apply("root:spaces", { ...SPACE, metadata: { ...SPACE.metadata, name: "bar" } });
    await seen(tab, "role=row[name=/^bar default managed Ready/]");
    await kubectl("root:spaces", "delete", "space", "bar");
    await gone(tab, "role=row[name=/^bar/]");
    await seen(tab, `code >> text='${server.url}/services/spaces/*/*'`);
    await tab.locator("role=row[name=/^shop/] >> role=link[name=shop]").click();
    await seen(tab, "role=heading[name=shop]");
    expect(tab.url()).to.match(ON_SPACE_PAGE);
  });

  it("show a ClusterProxy without an agent, and the command with which one enrolls", async () => {
    await apply("root", BINDING);
    await kubectl("root", "wait", "apibinding", BINDING.metadata.name, "--for=jsonpath={.status.phase}=Bound");
    await apply("root", PROXY);
    await open(PROXY_PAGE);
    await seen(tab, "[data-panel] .badge.failed >> text='Not connected'");
    await seen(tab, "text='virtual-workspaces agent token far > bootstrap.kubeconfig'");
    await seen(tab, `[data-panel] code >> text=/^${server.url}.services.clusterproxy.[^ ]*far$/`);
  });

  it("have no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const found: string[] = [];
    for (const hash of [SPACE_PAGE, PROVIDER_PAGE, VIEW_PAGE, PROXY_PAGE])
      for (const [width, colorScheme] of [
        [1400, "light"],
        [390, "dark"],
      ] as const) {
        await tab.setViewportSize({ width, height: 900 });
        await tab.emulateMedia({ colorScheme });
        await open(hash);
        await seen(tab, "[data-panel] code");
        found.push(...(await axeFaults(tab)).map((fault) => `${hash} ${width} ${colorScheme} ${fault}`));
      }
    expect(found).to.deep.equal([]);
  });

  it("are reached by keyboard in the tree", async () => {
    await tab.setViewportSize({ width: 1400, height: 900 });
    await open("root:spaces?open=root,root:spaces");
    await seen(tab, "role=treeitem[name=/^spaces/][selected]");
    // The last row: those of a workspace's objects follow its workspaces.
    await seen(tab, "role=treeitem[name=/^far.*ClusterProxy/]");
    await tab.locator("[role=treeitem][tabindex='0']").focus();
    await tab.keyboard.press("End");
    await seen(tab, "[role=treeitem]:focus >> text=far");
    await tab.keyboard.press("Enter");
    await seen(tab, "role=tab[name=Agent][selected]");
  });

  it("take a key that comes with a new row, before effects of the row", async () => {
    await open("root:spaces?open=root,root:spaces");
    await seen(tab, "role=treeitem[name=/^spaces/][selected]");
    await seen(tab, "role=treeitem[name=/^shop/]");
    await tab.locator("[role=treeitem][tabindex='0']").focus();
    await tab.keyboard.press("Home");
    await seen(tab, "[role=treeitem]:focus >> text=/^root/");
    await tab.evaluate(`new MutationObserver((_changes, observer) => {
      observer.disconnect();
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
    }).observe(document.querySelector("[role=tree]"), { childList: true })`);
    await apply("root:spaces", { ...SPACE, metadata: { ...SPACE.metadata, name: "late" } });
    await seen(tab, "[role=treeitem]:focus >> text=far");
  });

  it("are in the list of views for a view of another server, with its path, and say what that server answers", async () => {
    await open("root?view=views");
    await seen(tab, "role=rowheader[name=/^polls/]");
    await seen(tab, "code >> text='/services/polls/clusters/{cluster}'");
    await tab.locator("role=rowheader >> role=link[name=polls]").click();
    await seen(tab, "role=heading[name=Polls]");
    // This server has no such view.
    await seen(tab, "[data-panel=polls] >> text=/forbidden.*services.polls.clusters.root/");
  });

  it("act as the user as whom the tab acts", async () => {
    await open("root?view=access");
    await tab.locator("role=textbox[name='User to act as']").fill("eve");
    await tab.locator('role=button[name="Act as this user"]').click();
    await seen(tab, "role=region[name='Acting as another user'] >> text=eve");
    await open(VIEW_PAGE);
    await seen(tab, '[data-panel=spaces] >> text=/"eve".*spaces/');
  });

  it("show fields of objects as text, and make no element or script of them", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    const evil = '<img src="x" onerror="globalThis.broken = true"><script>globalThis.broken = true</script>';
    const condition = {
      type: evil,
      status: "False",
      reason: "Evil",
      message: evil,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const ready = { ...condition, type: "Ready" };
    const [spaces, proxies] = [Space.collection(), ClusterProxy.collection()];
    spaces.in("root", "default").set("evil", { SpaceProviderDescName: evil, Type: evil } as never);
    spaces.in("root", "default").setStatus("evil", {
      ...{ Phase: evil, spaceID: evil, conditions: [condition, ready] },
      externalSecretRef: { name: evil, namespace: evil },
    } as never);
    proxies.in("root").set("evil", {} as never);
    proxies.in("root").setStatus("evil", {
      ...{ URL: "javascript:globalThis.broken=true", tls: evil },
      conditions: [{ ...condition, type: "AgentConnected" }],
      agent: { version: evil, lastHeartbeatTime: evil, hubs: [evil], certificateExpires: evil },
    } as never);
    using folder = tree({});
    const { tls } = await generatedTls({ dir: folder.path });
    const view = defineVirtualWorkspace({
      ...{ name: "evil", prefix: "/clusters", path: "/:cluster", authorize: authenticated() },
      resources: [Space.serve(spaces), ClusterProxy.serve(proxies)],
      panels: [...clusterProxyPanels, ...spacesPanels],
    });
    await using own = await startConsole({}, { virtualWorkspaces: [view], tls });
    const { tab: second } = await openTab(browser, own.page.link(own.url, "alice"));
    await seen(second, "role=tree");
    for (const [hash, panel] of [
      ["root/space.kubestellar.io/v1alpha1/spaces/object/default/evil?view=panel-space", "space"],
      ["root/proxy.kcp.io/v1alpha1/clusterproxies/object/-/evil?view=panel-cluster-proxy", "cluster-proxy"],
      ["root?view=views&of=spaces", "spaces"],
    ] as const) {
      await second.goto(`${own.url}/console/#/workspaces/${hash}`);
      await seen(second, `[data-panel=${panel}] >> text=/<img src=/`);
      expect(await second.locator(`[data-panel=${panel}] img, [data-panel=${panel}] script`).count(), panel).to.equal(
        0,
      );
      expect(await second.locator(`[data-panel=${panel}] a[href^="javascript:"]`).count(), panel).to.equal(0);
      expect(await second.evaluate("globalThis.broken"), panel).to.equal(undefined);
    }
    await second.close();
  });
});
