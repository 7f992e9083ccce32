// The layout of the console: scrolling, line breaks, and what confirmations cover, wide and narrow.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const LONG = "a".repeat(63);
const GROUP = "manufacturing.example.dev";
const SCHEMA = `v1.quitelongwidgets.${GROUP}`;
const NAMES = {
  ...{ plural: "quitelongwidgets", singular: "quitelongwidget" },
  ...{ kind: "QuiteLongWidget", listKind: "QuiteLongWidgetList" },
};
const EXPORT = [
  {
    ...{ apiVersion: "apis.kcp.io/v1alpha1", kind: "APIResourceSchema", metadata: { name: SCHEMA } },
    spec: {
      ...{ group: GROUP, names: NAMES, scope: "Namespaced" },
      versions: [{ name: "v1", served: true, storage: true, schema: { type: "object" } }],
    },
  },
  {
    ...{ apiVersion: "apis.kcp.io/v1alpha2", kind: "APIExport", metadata: { name: GROUP } },
    spec: { resources: [{ group: GROUP, name: NAMES.plural, schema: SCHEMA, storage: { crd: {} } }] },
  },
  {
    ...{ apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: GROUP } },
    spec: { reference: { export: { path: "root:provider", name: GROUP } } },
  },
];
const EXPORT_PAGE = `root:provider/apis.kcp.io/v1alpha2/apiexports/object/-/${GROUP}?view=kcp`;
const CONFIG_MAPS = "root/core/v1/configmaps";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

describe("the layout of the console", function () {
  this.timeout(90_000);
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
    server = await Start.ready({ within: 60_000 });
    const names = ["provider", LONG];
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", spec: {} };
    await apply("root", ...names.map((name) => ({ ...workspace, metadata: { name } })));
    await server.kubectl("wait", "workspace", ...names, "--for=jsonpath={.status.phase}=Ready");
    await apply("root:provider", ...EXPORT);
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  async function apply(workspace: string, ...items: readonly object[]): Promise<void> {
    const file = join(server.folder.path, "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const answer = await server.kubectl("--server", `${server.url}/clusters/${workspace}`, "apply", "-f", file);
    expect(answer, answer).to.match(/^0 /);
  }
  const size = (width: number): Promise<void> => tab.setViewportSize({ width, height: 900 });
  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/#/workspaces/${hash}`);
  /** Returns how much higher and wider the document is than the window. */
  const beyond = (): Promise<readonly number[]> =>
    tab.evaluate(`(({ scrollHeight, scrollWidth }) =>
      [Math.max(0, scrollHeight - innerHeight), Math.max(0, scrollWidth - innerWidth)])(document.scrollingElement)`);
  /** Returns a script for the rectangle of the first element of a selector. */
  const box = (selector: string): string =>
    `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()`;

  it("scrolls the parts of the page, and never the page itself, wide and narrow", async () => {
    const found: string[] = [];
    for (const width of [1280, 390]) {
      await size(width);
      for (const [hash, shown] of [
        ["root", "role=heading"],
        ["root?view=access", "role=heading"],
        [CONFIG_MAPS, "role=table"],
        [`${CONFIG_MAPS}/object/default/kube-root-ca.crt`, "role=tablist"],
        [`root:${LONG}`, "text=/organization/"],
        [EXPORT_PAGE, "role=table[name='Exported resources']"],
        ["root:provider?view=views", "text=/services.apiexport/"],
      ] as const) {
        await open(hash);
        await seen(tab, `role=main >> ${shown}`);
        found.push(`${width} ${hash} ${await beyond()}`);
      }
      for (const name of ["Check now", "Test now"]) {
        await tab.locator(`role=button[name="${name}"]`).click();
        await seen(tab, `role=button[name="${name}"] >> xpath=.. >> text=/^[0-9]+ OK, 0 failed, [0-9]+ not checked$/`);
      }
      found.push(`${width} checked ${await beyond()}`);
    }
    expect(found.filter((line) => !line.endsWith(" 0,0"))).to.deep.equal([]);
  });

  it("wraps a name of 63 letters, and shows the type of its workspace in the tree", async () => {
    await size(390);
    await open(`root:${LONG}`);
    await seen(tab, "role=main >> text=/organization/");
    expect(await tab.evaluate(`${box(".breadcrumbs li:last-child a")}.right <= innerWidth`)).to.equal(true);
    await tab.locator('role=button[name="Show the workspaces"]').click();
    const width = `[...document.querySelectorAll(".tree-row .type")].map((type) => type.clientWidth)`;
    await seen(tab, "role=treeitem[name=/^aaa/] >> text=organization");
    expect(await tab.evaluate<number>(`Math.min(...${width})`)).to.be.at.least(50);
    await tab.keyboard.press("Escape");
  });

  it("shows all of a table of exported resources, and of the buttons of a view", async () => {
    await size(1280);
    await open(EXPORT_PAGE);
    await seen(tab, `role=link[name="${SCHEMA}"]`);
    const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
      document.querySelector("[aria-labelledby=exported] .table-wrap"))`;
    expect(await tab.evaluate(hidden)).to.equal(0);
    await size(390);
    await open("root:provider?view=views");
    await seen(tab, "text=/services.apiexport/");
    const cut = `[...document.querySelectorAll(".view-actions button")]
      .filter((button) => button.getBoundingClientRect().right > innerWidth).map((button) => button.textContent)`;
    expect(await tab.evaluate(cut)).to.deep.equal([]);
  });

  it("has room for the text of a CustomResourceDefinition", async () => {
    await size(1400);
    await open("root:provider");
    await tab.locator('role=button[name="Export an API"]').first().click();
    await seen(tab, "role=dialog");
    const sizes = await tab.evaluate<number[]>(`[${box("dialog")}.width, ${box("dialog textarea")}.height]`);
    expect(sizes[0]).to.be.at.least(800);
    expect(sizes[1]).to.be.at.least(400);
    await size(390);
    expect(await beyond()).to.deep.equal([0, 0]);
    await tab.keyboard.press("Escape");
  });

  it("confirms what a user has done without covering the page of the workspace", async () => {
    for (const width of [1280, 390]) {
      await size(width);
      await open("root:provider");
      await tab.locator("role=main >> role=button[name=/kubeconfig/]").first().click();
      await seen(tab, ".confirmation:popover-open");
      expect(await tab.evaluate(`${box(".confirmation")}.bottom <= ${box(".workspace-page")}.top`)).to.equal(true);
      await tab.locator(".confirmation").waitFor({ state: "hidden" });
    }
  });

  it("has no table on the page of views that scrolls sideways on a narrow screen", async () => {
    await size(390);
    await open("root:provider?view=views");
    await seen(tab, `role=table >> text=${GROUP}`);
    for (const [section, button] of [
      ["check", "Check now"],
      ["conformance", "Test now"],
    ] as const) {
      await tab.locator(`role=button[name="${button}"]`).click();
      await seen(tab, `[aria-labelledby=${section}] p.row > strong`);
    }
    const sideways = await tab.evaluate(
      `[...document.querySelectorAll(".views-page .table-wrap")].map((wrap) => wrap.scrollWidth - wrap.clientWidth)`,
    );
    const wide = `[...document.querySelectorAll(".views-page button")].filter((button) =>
      button.getBoundingClientRect().right > innerWidth).map((button) => button.textContent)`;
    expect(await tab.evaluate(wide)).to.deep.equal([]);
    expect(sideways).to.deep.equal([0, 0, 0, 0]);
    expect(await beyond()).to.deep.equal([0, 0]);
  });
});
