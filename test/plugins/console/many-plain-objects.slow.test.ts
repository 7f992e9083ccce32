// The console over 100,000 objects of a server without query views, such as kcp (`MANY=2000`: fewer): the browser loads and sorts them.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Front } from "../../cli/support/front.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";
import { LONGEST, MANY, manyObjects, nameOf, seen, WATCH_FRAMES } from "./support/many-objects.ts";

const USERS = 'alice-token,alice,alice,"system:kcp:admin"\n';
/** Bounds of an answer and of a frame, in ms, on a busy machine. */
const [ANSWER, FRAME] = [60_000, 1_500];
/** More at once than the page reads one by one, unless there are 100,000. */
const CHANGES = 300;

describe(`the console over ${MANY.toLocaleString("en")} objects of a server without query views`, function () {
  this.timeout(900_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let front: Front;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };
  let folder = "";
  const figures: string[] = [];

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    folder = await manyObjects();
    front = await Front.ready({ in: folder, within: 120_000, users: USERS, own: ["--console"] });
    ({ tab, faults } = await openTab(browser, `${front.url}/console/`));
    await tab.locator('role=textbox[name="Token or kubeconfig"]').fill("alice-token");
    await tab.locator('role=button[name="Sign in"]').click();
    await seen(tab, "role=treeitem[name=/^root/]");
    await tab.evaluate(WATCH_FRAMES);
  });
  after(async () => {
    await browser?.close();
    await front?.[Symbol.asyncDispose]();
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
    process.stdout.write(`    ${figures.join("; ")}\n`);
  });
  afterEach(() => faults?.expectNone());

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
  const search = async (text: string): Promise<void> => {
    await tab.locator(`.tools >> internal:label="Search"i`).first().fill(text);
    await tab.keyboard.press("Enter");
  };
  const row = (name: string): string => `tbody > tr:first-child >> text="${name}"`;
  async function kubectl(...args: readonly string[]): Promise<void> {
    const { kubeconfig } = front.in("/clusters/root", "alice-token");
    const answer = await front.server.kubectl("--kubeconfig", kubeconfig, ...args);
    expect(answer, answer).to.match(/^0 /);
  }

  it("shows the first rows, sorts, searches and pages", async () => {
    const open = () => tab.goto(`${front.url}/console/#/workspaces/root/core/v1/configmaps`);
    await within("first rows", open, 'role=rowheader[name="kube-root-ca.crt"]');
    await within("all rows", async () => undefined, ".live");
    await within("last page", () => tab.locator('role=button[name="Last page"]').click(), `text="${nameOf(MANY - 1)}"`);
    await within("sorted by name in reverse", () => header("Name"), row(nameOf(MANY - 1)));
    await within("searched", () => search(nameOf(MANY >> 1)), "text=1 object");
    await search("");
    const heap = await tab.evaluate<number>("performance.memory.usedJSHeapSize");
    figures.push(`heap of the page at most ${(heap / 2 ** 20).toFixed(0)} MiB`);
  });

  it("shows changes at once, one and many", async () => {
    await within("sorted by name again", () => header("Name"), 'role=rowheader[name="kube-root-ca.crt"]');
    const one = () => kubectl("create", "configmap", "a-new-one");
    await within("a create until its row", one, 'role=rowheader[name="a-new-one"]');
    const total = Number(/ of ([\d,]+)/.exec(await tab.locator(".pager").innerText())?.[1]?.replaceAll(",", ""));
    expect(total).to.be.above(MANY);
    const count = (all: number): string => `text=/ of ${all.toLocaleString("en")}$/`;
    const more = Array.from({ length: CHANGES }, (_, n) => ({
      ...{ apiVersion: "v1", kind: "ConfigMap" },
      metadata: { name: `b-${String(n).padStart(4, "0")}` },
    }));
    const file = join(front.folder.path, "more.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: more }));
    await within(
      `${CHANGES} creates until all are counted`,
      () => kubectl("create", "-f", file),
      count(total + CHANGES),
    );
    await within(
      "their deletion until all are gone",
      () => kubectl("delete", "--wait=false", "-f", file),
      count(total),
    );
  });

  it("does not bring back an object that was deleted while the page was reading it", async () => {
    const held = Promise.withResolvers<void>();
    const fetched = Promise.withResolvers<void>();
    const deleted = Promise.withResolvers<void>();
    tab.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (/"type":"DELETED"/.test(String(payload)) && String(payload).includes('"a-late-one"')) deleted.resolve();
      }),
    );
    // Its watches are opened again, and heard.
    await tab.reload();
    await seen(tab, ".live");
    await tab.evaluate(WATCH_FRAMES);
    await tab.route(/configmaps\/a-late-one$/, async (route) => {
      const response = await route.fetch();
      fetched.resolve();
      await held.promise;
      await route.fulfill({ response });
    });
    await kubectl("create", "configmap", "a-late-one");
    await fetched.promise;
    await kubectl("delete", "configmap", "a-late-one");
    await deleted.promise;
    held.resolve();
    await within("a create after it", () => kubectl("create", "configmap", "c-one"), 'role=rowheader[name="c-one"]');
    expect(await tab.locator('role=rowheader[name="a-late-one"]').count()).to.equal(0);
  });
});
