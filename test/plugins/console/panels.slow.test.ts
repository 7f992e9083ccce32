// Panels in a browser: what the contract gives them, how they fail, and the example. The server is one of an author's own.
import { createServer as createHttp } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { allow, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import type { Panel } from "@virtual-workspaces/framework/panel";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import polls from "../../../examples/panels/polls.ts";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { tree } from "../../_setup/tree.ts";
import { Note } from "../../_support/note.ts";
import { whoami } from "../../_support/whoami.ts";
import { startConsole } from "./support/console-server.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";
import { panelFixtures } from "./support/panel-fixtures.ts";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

/** Posts with a certificate that is not verified. @returns the status */
const post = (
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end(body);
  });

const NOTE = "root/test.dev/v1/notes/object/-/first";

describe("panels in the console", function () {
  this.timeout(90_000);
  const stack = new AsyncDisposableStack();
  const notes = Note.collection();
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let server: Awaited<ReturnType<typeof startConsole>>;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };
  /** Requests that the other server got. */
  let stolen = 0;

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    const other = createHttp((_req, res) => {
      stolen += 1;
      res.setHeader("content-type", "text/javascript").setHeader("access-control-allow-origin", "*");
      res.end("globalThis.broken = true;");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    stack.defer(() => void other.close());
    const { port } = other.address() as { readonly port: number };
    const folder = stack.use(tree(panelFixtures(`http://127.0.0.1:${port}`)));
    const panels = ["contract", "later", "throws", "empty", "broken", "unlisted", "foreign", "inline"].map(
      (name): Panel => ({
        ...{ name, title: `Panel ${name}`, for: { group: "test.dev", resource: "notes" } },
        module: pathToFileURL(join(folder.path, `${name}.js`)),
      }),
    );
    notes.in("root").set("first", { text: "first" });
    const view = defineVirtualWorkspace({
      ...{ name: "notes", prefix: "/clusters", path: "/:cluster", panels },
      authorize: ({ user, verb }) =>
        user.name === "alice" && verb !== "approve" ? allow() : deny("only alice, who does not approve"),
      resources: [Note.serve(notes)],
    });
    const { tls } = await generatedTls({ dir: join(folder.path, "tls") });
    server = await startConsole({}, { virtualWorkspaces: [view, whoami(), polls], tls });
    stack.use(server);
    ({ tab, faults } = await openTab(browser, server.page.link(server.url, "alice")));
    await seen(tab, "role=tree");
  });
  after(async () => {
    await browser?.close();
    await stack.disposeAsync();
  });
  afterEach(() => faults?.expectNone());

  const open = (hash: string, at = tab): Promise<unknown> => at.goto(`${server.url}/console/#/workspaces/${hash}`);
  const press = (name: string, at = tab): Promise<void> => at.locator(`role=button[name="${name}"]`).first().click();
  /** A tab of its own, with the same user: its faults are expected. */
  async function another(): Promise<ConsoleTab> {
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: second } = await openTab(browser, server.page.link(server.url, "alice"));
    await seen(second, "role=tree");
    return second;
  }

  it("are tabs of the objects of their resource, and get the workspace, the user and the live object", async () => {
    await open(NOTE);
    await tab.locator('role=tab[name="Panel contract"]').click();
    expect(tab.url()).to.match(/view=panel-contract$/);
    await seen(tab, "text='root root clusters/root alice'");
    await seen(tab, "text='text: first'");
    notes.in("root").set("first", { text: "second" });
    await seen(tab, "text='text: second'");
    await seen(tab, "text='a color'");
  });

  it("read, write and watch with the session of the page", async () => {
    await seen(tab, "text='1 notes, live'");
    for (const [name, result] of [
      ["patch", '{"text":"patched"}'],
      ["create", '"created"'],
      ["list", '["first","made"]'],
      ["delete", '"deleted"'],
    ] as const) {
      await press(name);
      await seen(tab, `text='${result}'`);
      if (name === "patch") await seen(tab, "text='text: patched'");
      if (name === "create") await seen(tab, "text='2 notes, live'");
    }
    await press("may");
    await seen(tab, "text='[true,false]'");
    await press("may elsewhere");
    await seen(tab, "#result >> text='true'");
    await press("missing");
    await seen(tab, "text=/StatusError 404 .*missing/");
    await press("who");
    await seen(tab, "#result >> text=/alice.*staff/");
  });

  it("reach no other server, and do not see the session", async () => {
    await press("elsewhere");
    await seen(tab, "text=/leads to another server/");
    await press("session");
    await seen(tab, "text='\"|\"'");
    await press("outside");
    await seen(tab, "text=/stolen.* leads to another server/");
  });

  it("use the parts of the page: facts, badges, URLs, links, announcements and navigation", async () => {
    await seen(tab, "[data-panel] dt >> text=Name");
    expect(await tab.locator("[data-panel] dt").count()).to.equal(1);
    await seen(tab, "[data-panel] .badge.good >> text=fine");
    await seen(tab, `[data-panel] code >> text='${server.url}/services/notes'`);
    await seen(tab, "[data-panel] >> role=button[name=/^Copy kubeconfig/]");
    await press("announce");
    await seen(tab, "role=status >> text='the panel has spoken'");
    const link = await tab.locator("[data-panel] >> role=link[name='to the table']").getAttribute("href");
    expect(link).to.equal("#/workspaces/root/test.dev/v1/notes");
    expect(await tab.evaluate("document.querySelector('#text').isConnected")).to.equal(true);
    await press("go to the view");
    await seen(tab, "role=heading[name=/notes/]");
    await open(`${NOTE}?view=panel-contract`);
    await press("go");
    await seen(tab, "role=rowheader[name=first]");
    expect(await tab.evaluate("globalThis.ended")).to.deep.equal(["unmounted false", "aborted"]);
  });

  it("show a failure in their place, with its reason, and the rest of the page goes on", async () => {
    const second = await another();
    for (const [name, reason] of [
      ["throws", "thrown at once"],
      ["empty", "its module exports no function"],
      ["broken", "its module cannot be loaded"],
      ["throws", "At throws[.]js:1:\\d+[.] The console of the browser has the whole error"],
      ["unlisted", "a file that the module imports: it must be in files of the panel"],
    ] as const) {
      await open(`${NOTE}?view=panel-${name}`, second);
      await seen(second, `role=alert >> text='The panel "Panel ${name}" has failed.'`);
      await seen(second, `role=alert >> text=/${reason}/`);
    }
    for (const [name, reason] of [
      ["throw", "thrown by a handler"],
      ["reject", "missing"],
      ["listen", "thrown by a listener"],
      ["timer", "thrown by a timer"],
    ] as const) {
      await open(`${NOTE}?view=panel-later`, second);
      if (name !== "throw") await press("Try again", second);
      await press(name, second);
      await seen(second, `role=alert >> text=/${reason}/`);
      expect(await second.locator("[data-panel] >> role=button").count(), name).to.equal(0);
    }
    await second.locator("role=tab[name=Summary]").click();
    await seen(second, "role=tabpanel >> text=first");
    await second.close();
  });

  it("load no module of another origin, and run nothing inline", async () => {
    const second = await another();
    await open(`${NOTE}?view=panel-foreign`, second);
    await seen(second, 'role=alert >> text=/The panel "Panel foreign" has failed/');
    await open(`${NOTE}?view=panel-inline`, second);
    await seen(second, "[data-panel=inline] >> text=inline");
    expect(await second.evaluate("globalThis.broken")).to.equal(undefined);
    expect(await second.evaluate("getComputedStyle(document.querySelector('[data-panel] p')).color")).to.not.equal(
      "rgb(255, 0, 0)",
    );
    expect(stolen, "requests of the other server").to.equal(0);
    await second.close();
  });

  it("are not shown to users who are not signed in", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: second } = await openTab(browser, `${server.url}/console/#/workspaces/${NOTE}?view=panel-contract`);
    await seen(second, "role=button[name='Sign in']");
    expect(
      await second.evaluate(
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/panels')).length",
      ),
    ).to.equal(0);
    await second.close();
  });

  it("are a part of the page of their virtual workspace, as in the example", async () => {
    await tab.locator("role=link[name=Views]").click();
    await seen(tab, "role=rowheader[name=/polls/]");
    await tab.locator("role=link[name=polls]").click();
    await seen(tab, "role=heading[name=Polls]");
    const POLLS = "/services/polls/clusters/root/apis/example.dev/v1/polls";
    const body = JSON.stringify({
      ...{ apiVersion: "example.dev/v1", kind: "Poll", metadata: { name: "lunch" } },
      spec: { question: "<b>Soup?</b>" },
    });
    const headers = { authorization: "Bearer bob", "content-type": "application/json" };
    const made = await post(`${server.url}${POLLS}`, { headers, body });
    expect(made).to.equal(201);
    await seen(tab, "text=/^<b>Soup.*Votes: 0/");
    await press("Vote for lunch");
    await seen(tab, "text=/Votes: 1/");
    await tab.reload();
    await seen(tab, "text=/Votes: 1/");
    await gone(tab, "role=alert");
  });

  it("have no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const found: string[] = [];
    const second = await another();
    for (const hash of [`${NOTE}?view=panel-contract`, `${NOTE}?view=panel-throws`, "root?view=views&of=polls"])
      for (const [width, colorScheme] of [
        [1400, "dark"],
        [390, "light"],
      ] as const) {
        await second.setViewportSize({ width, height: 900 });
        await second.emulateMedia({ colorScheme });
        await open(hash, second);
        await seen(second, hash.includes("throws") ? "role=alert" : "[data-panel] > *");
        found.push(...(await axeFaults(second)).map((fault) => `${hash} ${width} ${colorScheme} ${fault}`));
      }
    expect(found).to.deep.equal([]);
    await second.close();
  });
});
