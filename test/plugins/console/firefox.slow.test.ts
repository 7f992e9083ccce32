// The main job of the console in Firefox. Each other test of the console runs there too, with CONSOLE_BROWSER=firefox.
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { until } from "../../_support/until.ts";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const CONFIG_MAPS = "#/workspaces/root/core/v1/configmaps";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

describe("the console in Firefox", function () {
  this.timeout(120_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let server: Start;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser("firefox");
    if (browser === undefined) return this.skip();
    server = await Start.ready({ flags: ["--keep-kubeconfig"] });
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const kubectl = async (...args: readonly string[]): Promise<void> => {
    expect(await server.kubectl(...args)).to.match(/^0 /);
  };
  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/${hash}`);
  const name = (): ReturnType<ConsoleTab["locator"]> => tab.locator("role=dialog >> role=textbox[name=/^Name/]");

  it("reports what the content security policy forbids, so that the other tests would see it", async () => {
    await tab.evaluate("document.head.append(Object.assign(document.createElement('style'), { textContent: 'p {}' }))");
    const reports = (): boolean => {
      try {
        faults.expectNone();
        return false;
      } catch (error) {
        return String(error).includes("The page’s settings blocked an");
      }
    };
    await until(reports, { what: "a report of the inline style" });
  });

  it("signs in by a link, which does not stay in the address, and the session survives a reload", async () => {
    expect(await tab.evaluate("location.href")).to.equal(`${server.url}/console/#/workspaces/root`);
    await tab.reload();
    await seen(tab, "role=treeitem[name=/^root/]");
    expect(await tab.evaluate("document.cookie")).to.equal("");
  });

  it("creates a workspace in a dialog that keeps the focus, and shows at once what others create and delete", async () => {
    await tab.locator('role=button[name="Create workspace"]').first().click();
    await name().fill("Made_1");
    await tab.keyboard.press("Enter");
    await seen(tab, "role=dialog >> role=alert >> text=/^Use lower-case letters, digits and hyphens/");
    for (const focused of ["Type", "Cancel", "Create"]) {
      await tab.keyboard.press("Tab");
      const text = "document.activeElement.closest('fieldset, button').textContent";
      expect(await tab.evaluate<string>(text)).to.include(focused);
    }
    await tab.keyboard.press("Escape");
    await gone(tab, "role=dialog");
    expect(await tab.evaluate("document.activeElement.textContent")).to.equal("Create workspace");
    await tab.keyboard.press("Enter");
    await name().fill("made-1");
    await tab.keyboard.press("Enter");
    await seen(tab, "role=treeitem[name=/^made-1/]");
    await kubectl("delete", "workspaces.tenancy.kcp.io", "made-1", "--wait=false");
    await gone(tab, "role=treeitem[name=/^made-1/]");
  });

  it("copies a URL by a button", async () => {
    await open("#/workspaces/root");
    await seen(tab, 'role=heading[name="root"]');
    await tab.locator("role=button[name=/^Copy https:/]").first().click();
    await tab.locator('role=searchbox[name="Search workspaces"]').focus();
    await tab.keyboard.press("Control+V");
    const pasted = "document.activeElement.value";
    await until(async () => (await tab.evaluate(pasted)) === `${server.url}/clusters/root`, { what: "the pasted URL" });
    await tab.keyboard.press("Escape");
  });

  it("shows a live table that the server sorts and filters", async () => {
    await open(CONFIG_MAPS);
    await seen(tab, 'role=rowheader[name="kube-root-ca.crt"]');
    for (const one of ["b", "a", "c"]) await kubectl("create", "configmap", one, `--from-literal=size=${one}`);
    for (const one of ["a", "b", "c"]) await seen(tab, `role=rowheader[name="${one}"]`);
    await tab.locator("role=columnheader >> role=button[name=/^Name/]").first().click();
    await seen(tab, "role=columnheader[name=/^Name/] >> xpath=self::*[@aria-sort='descending']");
    await tab.locator("role=textbox[name=/CEL filter/]").fill('object.metadata.name > "a"');
    await tab.keyboard.press("Enter");
    await gone(tab, 'role=rowheader[name="a"]');
    await kubectl("delete", "configmap", "c");
    await gone(tab, 'role=rowheader[name="c"]');
    await seen(tab, 'role=rowheader[name="b"]');
  });

  it("edits an object with completion, reviews the change and saves it", async () => {
    await open(`${CONFIG_MAPS}/object/default/b?view=yaml`);
    await tab.locator(".cm-line >> text=/^kind:/").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.press("Enter");
    await tab.keyboard.type("imm");
    await tab.locator("role=option >> text=immutable").first().click();
    await tab.keyboard.type("true");
    await tab.keyboard.press("Control+S");
    await seen(tab, "text=/The server accepts 1 change:.*immutable/");
    await tab.locator('role=button[name="Save"]').click();
    await seen(tab, ".confirmation:popover-open >> text=Saved.");
    expect(await server.kubectl("get", "configmap", "b", "-o", "jsonpath={.immutable}")).to.equal("0 true");
  });

  it("has no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const found: string[] = [];
    const pages = [
      ["#/workspaces/root", "text=Conditions"],
      [CONFIG_MAPS, 'role=rowheader[name="b"]'],
      [`${CONFIG_MAPS}/object/default/b`, 'role=tab[name="YAML"]'],
    ] as const;
    for (const [width, colors] of [
      [1400, "light"],
      [390, "dark"],
    ] as const) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.locator("role=button[name=/^Colors/]").click();
      await seen(tab, `role=button[name="Colors: ${colors}"]`);
      for (const [hash, sign] of pages) {
        await open(hash);
        await seen(tab, sign);
        found.push(...(await axeFaults(tab)).map((fault) => `${hash} ${width} ${colors} ${fault}`));
      }
    }
    await tab.setViewportSize({ width: 1400, height: 900 });
    expect(found).to.deep.equal([]);
  });

  it("goes on after a restart of the server", async () => {
    await open(CONFIG_MAPS);
    await seen(tab, 'role=rowheader[name="b"]');
    expect(await server.end("SIGTERM")).to.equal(0);
    await seen(tab, "text=/Connection to the server lost/");
    const { port } = new URL(server.url);
    const at = ["--bind-address=127.0.0.1", `--secure-port=${port}`];
    const again = await Start.ready({ in: server.folder.path, at, flags: ["--keep-kubeconfig"] });
    try {
      await gone(tab, "text=/Connection to the server lost/");
      expect(await again.kubectl("create", "configmap", "later")).to.match(/^0 /);
      await seen(tab, 'role=rowheader[name="later"]');
    } finally {
      await again.end("SIGTERM");
    }
  });
});
