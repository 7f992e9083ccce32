// Tables and objects in the console, as first-time users meet them: confirmations, summaries, paths of workspaces, bindings.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const CONFIG_MAPS = "root/core/v1/configmaps";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

describe("tables and objects in the console", function () {
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
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/#/workspaces/${hash}`);
  const kubectl = async (...args: readonly string[]): Promise<void> => {
    expect(await server.kubectl(...args)).to.match(/^0 /);
  };
  const button = (name: string): Promise<void> => tab.locator(`role=button[name="${name}"]`).first().click();
  const inDialog = (name: string): Promise<void> => tab.locator(`role=dialog >> role=button[name="${name}"]`).click();
  const fill = (label: string, text: string): Promise<void> =>
    tab.locator(`role=dialog >> internal:label="${label}"s`).first().fill(text);

  it("confirm what the user has done, for some seconds, over the page", async () => {
    await open("root");
    for (const name of ["team", "other"]) {
      await button("Create workspace");
      await fill("Name", name);
      await inDialog("Create");
      await seen(tab, `.confirmation:popover-open >> text=Workspace ${name} created.`);
    }
    await kubectl("create", "configmap", "short");
    await open(`${CONFIG_MAPS}/object/default/short`);
    await button("Delete");
    await inDialog("Delete");
    await seen(tab, ".confirmation:popover-open >> text=short is being deleted.");
    await seen(tab, "text=This object has been deleted.");
    await tab.locator(".confirmation").waitFor({ state: "hidden" });
    const regions = 'role=status >> text="short is being deleted."';
    expect(await tab.locator(regions).count()).to.equal(0);
  });

  it("show the data of an object, what the server shows of it in tables, and its fields", async () => {
    await kubectl("create", "configmap", "settings", "--from-literal=color=green");
    await open(`${CONFIG_MAPS}/object/default/settings`);
    await seen(tab, 'role=tabpanel >> role=region[name="Data"] >> text=green');
    await kubectl("patch", "configmap", "settings", '--patch={"data":{"color":"blue"}}');
    await seen(tab, 'role=tabpanel >> role=region[name="Data"] >> text=blue');
    await open("root/core.kcp.io/v1alpha1/logicalclusters/object/-/cluster");
    await seen(tab, 'role=region[name="In tables"] >> text=Ready');
    await seen(tab, 'role=region[name="Fields"] >> text=spec.directlyDeletable');
  });

  it("show a value of a Secret only when the user wants to see it", async () => {
    const file = join(server.folder.path, "door.json");
    const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "door" }, stringData: { key: "sesame" } };
    writeFileSync(file, JSON.stringify(manifest));
    // The annotation of `apply` has the values, too.
    await kubectl("apply", "-f", file);
    await open("root/core/v1/secrets/object/default/door");
    await seen(tab, "text=Hidden, 6 bytes");
    await seen(tab, 'role=region[name="Annotations"]');
    expect(await tab.evaluate("document.body.innerHTML.includes('sesame')")).to.equal(false);
    await button("Show key");
    await seen(tab, "text=sesame");
    await button("Hide key");
    await gone(tab, "text=sesame");
  });

  it("name the line of a problem in YAML, without moving the text", async () => {
    await open(`${CONFIG_MAPS}/object/default/settings?view=yaml`);
    const place = "JSON.stringify(document.querySelector('.editor-host').getBoundingClientRect().top)";
    await seen(tab, ".cm-line >> text=/color: blue/");
    const before = await tab.evaluate<string>(place);
    await tab.locator(".cm-line >> text=/color: blue/").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.insertText("\n  size: [");
    await seen(tab, "role=list[name='Problems of the text'] >> role=button[name=/^Line [0-9]+:/]");
    await button("Review changes");
    await seen(tab, "role=list[name='Problems of the text'] >> role=button[name=/^Line [0-9]+:/]");
    expect(await tab.evaluate<string>(place)).to.equal(before);
    await button("Discard changes");
    await gone(tab, "role=list[name='Problems of the text']");
  });
});
