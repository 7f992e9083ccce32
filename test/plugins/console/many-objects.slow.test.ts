// The console over a workspace with 100,000 objects (`MANY=2000`: fewer): answers within seconds, and a page that does not freeze.

import { once } from "node:events";
import { rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";
import { LONGEST, MANY, manyObjects, nameOf, seen, WATCH_FRAMES } from "./support/many-objects.ts";

const CONFIG_MAPS = "/clusters/root/api/v1/namespaces/default/configmaps";
/** Bounds of an answer and of a frame, in ms, on a busy machine. A table of 100,000 rows, or a page that sorts them, takes far longer. */
const [ANSWER, FRAME] = [20_000, 1_500];

describe(`the console over ${MANY.toLocaleString("en")} objects`, function () {
  this.timeout(900_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let server: Start;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };
  let agent: Agent;
  let token: string;
  let folder = "";
  const figures: string[] = [];

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    folder = await manyObjects();
    server = await Start.ready({ in: folder, within: 120_000 });
    token = server.token("kcp-admin");
    agent = new Agent({ keepAlive: true, ca: server.text("apiserver.crt") });
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
    await tab.evaluate(WATCH_FRAMES);
  });
  after(async () => {
    agent?.destroy();
    await browser?.close();
    await server?.end("SIGTERM");
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
    process.stdout.write(`    ${figures.join("; ")}\n`);
  });
  afterEach(() => faults?.expectNone());

  async function create(name: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { n: name.slice(-3) } };
    const req = request(server.url + CONFIG_MAPS, { method: "POST", agent, headers }).end(JSON.stringify(body));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    res.resume();
    await once(res, "end");
    if (res.statusCode !== 201) throw new Error(`HTTP status ${res.statusCode} for ${name}`);
  }

  /** Does something, and waits until the page shows its result, within the bounds. */
  async function within(what: string, act: () => Promise<unknown>, selector: string): Promise<void> {
    const began = performance.now();
    await act();
    await seen(tab, selector);
    const [took, frame] = [performance.now() - began, await tab.evaluate<number>(LONGEST)];
    figures.push(`${what} ${took.toFixed(0)} ms, longest frame ${frame.toFixed(0)} ms`);
    expect(took, what).to.be.below(ANSWER);
    expect(frame, `longest frame, ${what}`).to.be.below(FRAME);
  }
  const header = (name: string): Promise<void> =>
    tab.locator(`role=columnheader >> role=button[name="${name}"]`).click();
  const type = async (label: string, text: string): Promise<void> => {
    await tab.locator(`.tools >> internal:label="${label}"i`).first().fill(text);
    await tab.keyboard.press("Enter");
  };
  const row = (name: string): string => `tbody > tr:first-child >> text="${name}"`;

  it("shows the first rows, sorts, filters, searches and pages", async () => {
    const open = () => tab.goto(`${server.url}/console/#/workspaces/root/core/v1/configmaps`);
    await within("first rows", open, 'role=rowheader[name="kube-root-ca.crt"]');
    await within("last page", () => tab.locator('role=button[name="Last page"]').click(), `text="${nameOf(MANY - 1)}"`);
    await within("sorted by name in reverse", () => header("Name"), row(nameOf(MANY - 1)));
    await within("sorted by age", () => header("Age"), "th[aria-sort=ascending] >> text=Age");
    await within("searched", () => type("Search", nameOf(MANY >> 1)), "text=1 object");
    await type("Search", "");
    const filter = 'has(object.data.n) && object.data.n == "007"';
    const count = Math.ceil((MANY - 7) / 1_000);
    const found = count === 1 ? "1 object" : `${count} objects`;
    await within("filtered", () => type("CEL filter", filter), `text="${found}"`);
    await type("CEL filter", "");
  });

  it("scrolls, and shows a change at once", async () => {
    await within("sorted by name again", () => header("Name"), 'role=rowheader[name="kube-root-ca.crt"]');
    await tab.evaluate(`new Promise((resolve) => {
      const table = document.querySelector(".table-scroll");
      const step = () => {
        table.scrollTop += 60;
        if (table.scrollTop + table.clientHeight < table.scrollHeight - 1) requestAnimationFrame(step);
        else resolve();
      };
      step();
    })`);
    const frame = await tab.evaluate<number>(LONGEST);
    figures.push(`longest frame while scrolling ${frame.toFixed(0)} ms`);
    expect(frame, "longest frame while scrolling").to.be.below(FRAME);
    await within("a create until its row", () => create("a-new-one"), 'role=rowheader[name="a-new-one"]');
  });

  it("shows the changes of the workspace, of which the newest are kept", async () => {
    const open = () => tab.goto(`${server.url}/console/#/workspaces/root?view=changes`);
    await open();
    await tab.evaluate(WATCH_FRAMES);
    await within("changes", open, "role=region[name='Changes in the last hour'] >> text=Live");
    await within("a create until its change", () => create("b-new-one"), 'th bdi:text-is("b-new-one")');
  });
});
