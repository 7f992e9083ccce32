// The console of `virtual-workspaces dev`: the author's view in a browser, which follows each reload.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Dev } from "../../cli/support/dev.ts";
import { viewText } from "../../cli/support/views.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

describe("the console of virtual-workspaces dev", function () {
  this.timeout(90_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let dev: Dev;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };
  let reloads = 0;

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    dev = await Dev.start({ files: { "note.ts": viewText() } });
  });
  after(async () => {
    await browser?.close();
    await dev?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const save = async (file: string, text: string): Promise<void> => {
    writeFileSync(join(dev.folder.path, file), text);
    await dev.until(/^Reloaded in /m, ++reloads);
  };
  const link = (): string => / within an hour: (\S+)$/m.exec(dev.text)?.[1] ?? "";
  const open = (hash: string): Promise<unknown> => tab.goto(`${dev.url}/console/#/workspaces/${hash}`);
  const NOTES = "root/test.dev/v1/notes";

  it("signs in by the printed link after a reload, too, and shows the view's resources as those of root", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    await save("note.ts", viewText({ text: "before" }));
    ({ tab, faults } = await openTab(browser, link()));
    await seen(tab, "role=treeitem[name=/^root/]");
    await seen(tab, "text=Ready");
    await seen(tab, "text=No workspaces can be created here.");
    expect(await tab.locator('role=button[name="Create workspace"]').count()).to.equal(0);
    await tab.locator("role=link[name=/^notes/]").click();
    await seen(tab, "role=row[name=/one before/]");
  });

  it("shows a changed object after a reload, in the same session", async () => {
    await save("note.ts", viewText({ text: "second" }));
    await seen(tab, "role=row[name=/one second/]");
    await open(`${NOTES}/object/-/one`);
    await seen(tab, "text=second");
    await save("note.ts", viewText({ text: "third" }));
    await seen(tab, "text=third");
  });

  it("shows an added view on the Views page and its resource in the list, by itself", async () => {
    await open("root?view=views");
    await seen(tab, "role=row[name=/^note Ready/]");
    await save("task.ts", viewText({ name: "task" }));
    await seen(tab, "role=row[name=/^task Ready/] >> text='/services/task/clusters/{cluster}'");
    await seen(tab, "role=link[name=/^tasks/]");
    expect(await axeFaults(tab)).to.deep.equal([]);
  });

  it("checks a view that is not ready, with the remedy that doctor has", async () => {
    const more = 'ready: () => Promise.reject(new Error("no source")),';
    await save("task.ts", viewText({ name: "task", more }));
    await seen(tab, "role=row[name=/^task Not ready/]");
    await tab.locator('role=button[name="Check now"]').click();
    const results = "role=table[name='Check now']";
    const remedy = /Remedy: wait; if it does not become ready, find the reason in its log/.source;
    await seen(tab, `${results} >> role=row[name=/Server the server is ready Failed not ready: .*task.* ${remedy}/]`);
    await seen(tab, `${results} >> role=row[name=/task the server is ready Failed Not ready ${remedy}/]`);
    await seen(tab, `${results} >> role=row[name=/note a watch syncs OK notes: 1 object in/]`);
    await seen(tab, "text=/[1-9] failed/");
    expect(await axeFaults(tab)).to.deep.equal([]);
  });
});
