// What screen readers get from the console, as a walk with Orca has shown it: announcements, the focus, and states of fields.
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const CONFIG_MAPS = "#/workspaces/root/core/v1/configmaps";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const spoken = (tab: ConsoleTab, text: string): Promise<void> => seen(tab, `role=status >> text="${text}"`);

describe("screen readers in the console", function () {
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
    server = await Start.ready();
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const title = (): Promise<string> => tab.evaluate("document.title");

  it("read the title of each page that opens, also of the first one", async () => {
    await spoken(tab, "root");
    expect(await title()).to.equal("root – Workspaces");
    await tab.locator('role=link[name="Access"]').first().click();
    await spoken(tab, "Access – root");
    await tab.locator('role=link[name="configmaps"]').click();
    await spoken(tab, "configmaps – root");
    await tab.locator('role=rowheader >> role=link[name="kube-root-ca.crt"]').first().click();
    await spoken(tab, "kube-root-ca.crt – configmaps – root");
    expect(await title()).to.equal("kube-root-ca.crt – configmaps – root – Workspaces");
  });

  it("go to the content of a page if what had the focus is gone", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await tab.locator("role=rowheader >> role=link").first().focus();
    await tab.keyboard.press("Enter");
    await seen(tab, 'role=tab[name="YAML"]');
    expect(await tab.evaluate("document.activeElement.id")).to.equal("content");
  });

  it("read the order of a table after each change of it", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}`);
    for (const order of ["descending", "ascending"]) {
      await tab.locator("role=columnheader >> role=button[name=/^Name/]").first().click();
      await spoken(tab, `Sorted by Name, ${order}`);
    }
  });

  it("get the first field of a dialog at once, which is not invalid before the user types", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root`);
    await seen(tab, 'role=heading[name="root"]');
    const names = "event.target.getAttribute('aria-label') ?? event.target.type";
    await tab.evaluate(`(() => {
      globalThis.focused = [];
      document.addEventListener("focusin", (event) => focused.push(${names}));
    })()`);
    await tab.locator('role=button[name="Create workspace"]').first().focus();
    await tab.keyboard.press("Enter");
    await seen(tab, "role=dialog >> role=textbox[name=/^Name/]");
    expect(await tab.evaluate("focused.join()")).to.equal("button,text");
    expect(await tab.locator("dialog :invalid").count()).to.equal(0);
    // An alert that appears with its text is read twice.
    const display = "getComputedStyle(document.querySelector('dialog [role=alert]:empty')).display";
    expect(await tab.evaluate(display)).to.not.equal("none");
    await tab.keyboard.press("Escape");
  });

  it("read the first problem of a text that the user wants to review", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}/object/default/kube-root-ca.crt?view=yaml`);
    await tab.locator(".cm-line >> text=/^kind:/").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.insertText("\nlabels");
    await tab.keyboard.press("Control+S");
    await seen(tab, "role=status >> text=/^Implicit/");
  });

  it("read what a button copies", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root`);
    await seen(tab, `role=button[name="Copy ${server.url}/clusters/root"]`);
  });
});
