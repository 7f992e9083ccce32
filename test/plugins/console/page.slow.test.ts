// The console in a browser, served by a real server, as its users see it.
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { tree } from "../../_setup/tree.ts";
import { TestIssuer } from "../../_support/issuer.ts";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const USERS = 'bob-token,bob,bob,"readers"\n';
const CONFIG_MAPS = "#/workspaces/root/core/v1/configmaps";

/** Link of a server's first line about the console. */
const linkOf = (server: Start): string =>
  server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

describe("the console in a browser", function () {
  this.timeout(180_000);
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
    server = await Start.ready({ flags: ["--keep-kubeconfig"], files: { "tokens.csv": USERS } });
    ({ tab, faults } = await openTab(browser, linkOf(server)));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  /** Signs in as another user, in a profile of its own. */
  async function other(credential: string): Promise<ConsoleTab> {
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: second } = await openTab(browser, `${server.url}/console/`);
    await second.locator('role=textbox[name="Token or kubeconfig"]').fill(credential);
    await second.locator('role=button[name="Sign in"]').click();
    await seen(second, "role=tree");
    return second;
  }

  /** Types at the end of the line with the size. */
  async function typeAtSize(text: string): Promise<void> {
    await tab.locator(".cm-line >> text=/size:/").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.insertText(text);
  }

  it("signs in by a link, which does not stay in the address, and the session survives a reload", async () => {
    expect(tab.url()).to.not.include("code");
    await tab.reload();
    await seen(tab, "role=treeitem[name=/^root/]");
    expect(await tab.evaluate("document.cookie")).to.equal("");
  });

  it("says that a link has been used, and how to get another one", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: second } = await openTab(browser, linkOf(server));
    await seen(second, "role=alert >> text=/has been used already.*virtual-workspaces console/");
    await seen(second, 'role=textbox[name="Token or kubeconfig"]');
    expect(second.url()).to.not.include("code");
    expect(await axeFaults(second)).to.deep.equal([]);
    await second.close();
  });

  it("takes a link that is pasted into an open tab, and keeps its code out of the address and the history", async () => {
    const bob = await other("bob-token");
    const shown = `${server.url}/console/${CONFIG_MAPS}?namespace=default`;
    await bob.goto(shown);
    const paste = async (token: string): Promise<void> => {
      const headers = JSON.stringify({ authorization: `Bearer ${token}` });
      const code = await bob.evaluate<string>(
        `fetch("codes", { method: "POST", headers: ${headers} }).then((answer) => answer.json()).then(({ code }) => code)`,
      );
      await bob.goto(`${server.url}/console/#code=${code}`);
    };
    await paste(server.token("kcp-admin"));
    await bob.locator('role=dialog >> role=button[name="Sign in as kcp-admin"]').click();
    await seen(bob, "summary >> text=kcp-admin");
    expect(bob.url()).to.equal(shown);
    await bob.locator("summary >> text=kcp-admin").click();
    await bob.locator('role=button[name="Sign out"]').click();
    await seen(bob, 'role=textbox[name="Token or kubeconfig"]');
    await paste("bob-token");
    await seen(bob, "summary >> text=bob");
    expect(bob.url()).to.equal(shown);
    expect(await bob.evaluate("navigation.entries().map(({ url }) => url).join()")).to.not.include("code=");
    await bob.close();
  });

  it("has the address of what it shows after a sign-in", async () => {
    const bob = await other("bob-token");
    expect(bob.url()).to.equal(`${server.url}/console/#/workspaces/root`);
    await bob.close();
  });

  it("does not take the path of the last page for the only workspace of the next user", async () => {
    const bob = await other("bob-token");
    await bob.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await bob.locator("summary >> text=bob").click();
    await bob.locator('role=button[name="Sign out"]').click();
    await seen(bob, "text=You have signed out");
    expect(await bob.evaluate("document.querySelector('form input').value")).to.equal("");
    await bob.close();
  });

  it("makes a workspace, which another browser shows at once, and deletes it by its typed name", async () => {
    const second = await other(server.text("admin.kubeconfig"));
    await seen(second, "role=treeitem[name=/^root/]");
    await tab.locator('role=button[name="Create workspace"]').first().click();
    await tab.locator("role=dialog >> role=textbox[name=/^Name/]").fill("Console_1");
    await tab.locator('role=dialog >> role=button[name="Create"]').click();
    await seen(tab, "role=dialog >> role=alert >> text=/^Use lower-case letters, digits and hyphens/");
    await tab.locator("role=dialog >> role=textbox[name=/^Name/]").fill("x".repeat(64));
    await gone(tab, "role=dialog >> role=alert >> text=/^Use lower-case/");
    await tab.locator('role=dialog >> role=button[name="Create"]').click();
    await seen(tab, "role=dialog >> role=alert >> text=/63/");
    expect((await tab.locator("role=dialog >> role=alert").allInnerTexts()).join()).not.to.include("not checked");
    await tab.locator("role=dialog >> role=textbox[name=/^Name/]").fill("console-1");
    await tab.locator('role=dialog >> role=button[name="Create"]').click();
    for (const one of [tab, second]) await seen(one, "role=treeitem[name=/^console-1/]");
    await tab.locator("role=treeitem[name=/^console-1/] >> role=link").click();
    await seen(tab, 'role=heading[name="console-1"]');
    await tab.locator('role=button[name="Delete workspace"]').first().click();
    await tab.locator("role=dialog >> role=textbox").fill("console-1");
    await tab.locator('role=dialog >> role=button[name="Delete"]').click();
    for (const one of [tab, second]) await gone(one, "role=treeitem[name=/^console-1/]");
    await second.close();
    await tab.goto(`${server.url}/console/#/workspaces/root:console-1`);
    await seen(tab, "text=There is no workspace root:console-1.");
    for (const name of ["Create workspace", "Export an API", "Bind an export", "Mount a cluster"])
      await gone(tab, `.overview >> role=button[name="${name}"]`);
  });

  it("shows a live table that the server sorts, searches and filters", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await seen(tab, 'role=rowheader[name="kube-root-ca.crt"]');
    for (const name of ["b", "a", "c"])
      expect(await server.kubectl("create", "configmap", name, `--from-literal=size=${name}`)).to.match(/^0 /);
    for (const name of ["a", "b", "c"]) await seen(tab, `role=rowheader[name="${name}"]`);
    await tab.locator("role=columnheader >> role=button[name=/^Name/]").first().click();
    await seen(tab, "role=columnheader[name=/^Name/] >> xpath=self::*[@aria-sort]");
    await tab.locator("role=textbox[name=/CEL filter/]").fill('object.metadata.name > "a"');
    await tab.keyboard.press("Enter");
    await gone(tab, 'role=rowheader[name="a"]');
    await seen(tab, 'role=rowheader[name="c"]');
    await tab.locator("role=textbox[name=/CEL filter/]").fill("object.");
    await tab.keyboard.press("Enter");
    await seen(tab, "text=/invalid filter/");
    const link = tab.url();
    await tab.goto("about:blank");
    await tab.goto(link);
    await seen(tab, "text=/invalid filter/");
    await tab.locator("role=textbox[name=/CEL filter/]").fill("");
    await tab.keyboard.press("Enter");
    expect(await server.kubectl("delete", "configmap", "a")).to.match(/^0 /);
    await gone(tab, 'role=rowheader[name="a"]');
  });

  it("shows a user what they may see, and says what they may not", async () => {
    const bob = await other("bob-token");
    await bob.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await seen(bob, 'text=/cannot list resource "configmaps"/');
    await bob.close();
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: wrong } = await openTab(browser, `${server.url}/console/`);
    await wrong.locator('role=textbox[name="Token or kubeconfig"]').fill("no-token-of-this-server");
    await wrong.locator('role=button[name="Sign in"]').click();
    await seen(wrong, "text=The server does not know this token.");
    await wrong.close();
  });

  it("shows names and values of objects as text", async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    expect(await server.kubectl("create", "configmap", "evil", `--from-literal=evil=${evil}`)).to.match(/^0 /);
    expect(await server.kubectl("annotate", "configmap", "evil", `evil=${evil}`)).to.match(/^0 /);
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}/object/default/evil`);
    await seen(tab, "text=/onerror/");
    expect(await tab.evaluate("document.title")).to.not.equal("1");
    expect(await tab.locator("img").count()).to.equal(0);
  });

  it("edits an object as YAML, after a review of what the server makes of it", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}/object/default/b`);
    await tab.locator('role=tab[name="YAML"]').click();
    await seen(tab, ".cm-content >> text=/size: b/");
    await typeAtSize(" edited");
    await tab.locator('role=button[name="Review changes"]').click();
    await tab.locator('role=button[name="Save"]').click();
    await seen(tab, "text=Saved.");
    const read = ["get", "configmap", "b", "-o", "jsonpath={.data.size}"] as const;
    expect(await server.kubectl(...read)).to.equal("0 b edited");
  });

  it("asks before it is closed while the text of a new object is not saved", async () => {
    const isGuarded = (): Promise<boolean> =>
      tab.evaluate(`!dispatchEvent(new Event("beforeunload", { cancelable: true }))`);
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}?view=create`);
    await seen(tab, ".cm-line >> text=/kind: ConfigMap/");
    expect(await isGuarded()).to.equal(false);
    await tab.locator(".cm-line >> text=/kind: ConfigMap/").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.insertText(" # mine");
    await seen(tab, "role=status >> text=Changed, not saved.");
    expect(await isGuarded()).to.equal(true);
    await tab.locator('role=button[name="Start over"]').click();
    await gone(tab, "role=status >> text=Changed, not saved.");
    expect(await isGuarded()).to.equal(false);
  });

  it("says that an object has changed on the server while it is edited, and loses neither change", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}/object/default/c?view=yaml`);
    await seen(tab, ".cm-content >> text=/size: c/");
    await typeAtSize(" mine");
    expect(await server.kubectl("label", "configmap", "c", "theirs=yes")).to.match(/^0 /);
    await seen(tab, "text=The object has changed on the server while you edit it.");
    await tab.locator('role=button[name="Merge"]').click();
    await tab.locator('role=button[name="Review changes"]').click();
    await tab.locator('role=button[name="Save"]').click();
    await seen(tab, "text=Saved.");
    const read = ["get", "configmap", "c", "-o", "jsonpath={.data.size} {.metadata.labels.theirs}"] as const;
    expect(await server.kubectl(...read)).to.equal("0 c mine yes");
  });

  it("merges what others have changed into a text, and keeps the user's value of a field that both have changed", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}/object/default/c?view=yaml`);
    await seen(tab, ".cm-content >> text=/size: c mine/");
    await typeAtSize(" again");
    const theirs = { metadata: { labels: { theirs: "no" } }, data: { size: "theirs" } };
    expect(await server.kubectl("patch", "configmap", "c", `--patch=${JSON.stringify(theirs)}`)).to.match(/^0 /);
    await seen(tab, "text=/Both have changed: data.size/");
    await tab.locator('role=button[name="Review changes"]').click();
    await seen(tab, "text=Choose first what becomes of the changes on the server.");
    await tab.locator('role=button[name="Merge"]').click();
    await tab.locator('role=button[name="Review changes"]').click();
    await tab.locator('role=button[name="Save"]').click();
    await seen(tab, ".confirmation:popover-open >> text=Saved.");
    const read = ["get", "configmap", "c", "-o", "jsonpath={.data.size} {.metadata.labels.theirs}"] as const;
    expect(await server.kubectl(...read)).to.equal("0 c mine again no");
  });

  it("has no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const faultsFound: string[] = [];
    for (const hash of ["#/workspaces/root", CONFIG_MAPS, `${CONFIG_MAPS}/object/default/b`])
      for (const width of [1400, 390])
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.setViewportSize({ width, height: 900 });
          await tab.emulateMedia({ colorScheme });
          await tab.goto(`${server.url}/console/${hash}`);
          await seen(tab, "role=main");
          await seen(tab, "role=heading");
          faultsFound.push(...(await axeFaults(tab)).map((fault) => `${hash} ${width} ${colorScheme} ${fault}`));
        }
    await tab.setViewportSize({ width: 1400, height: 900 });
    expect(faultsFound).to.deep.equal([]);
  });

  it("has parts that scroll, and does not scroll as a whole, wide and narrow", async () => {
    const found: string[] = [];
    for (const hash of ["#/workspaces/root", CONFIG_MAPS, `${CONFIG_MAPS}/object/default/b?view=yaml`])
      for (const width of [1400, 390, 360]) {
        await tab.setViewportSize({ width, height: 900 });
        await tab.goto(`${server.url}/console/${hash}`);
        await seen(tab, "role=main");
        await seen(tab, "role=heading");
        const over = `["Width", "Height"].map((one) => document.documentElement["scroll" + one] - document.documentElement["client" + one]).join()`;
        found.push(`${hash} ${width} ${await tab.evaluate<string>(over)}`);
      }
    await tab.setViewportSize({ width: 1400, height: 900 });
    expect(found.filter((line) => !line.endsWith(" 0,0"))).to.deep.equal([]);
  });

  it("is used by keyboard alone", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root`);
    await seen(tab, "role=treeitem[name=/^root/]");
    await tab.keyboard.press("t");
    await tab.keyboard.press("Home");
    await tab.keyboard.press("Enter");
    await seen(tab, 'role=heading[name="root"]');
    await tab.keyboard.press("?");
    await seen(tab, 'role=dialog[name="Keyboard shortcuts"]');
    await tab.keyboard.press("Escape");
    await gone(tab, 'role=dialog[name="Keyboard shortcuts"]');
  });

  it("signs out in all tabs of the browser", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    const profile = await browser.newContext({ ignoreHTTPSErrors: true });
    const [first, second] = [await profile.newPage(), await profile.newPage()];
    await first.goto(`${server.url}/console/`);
    await first.locator('role=textbox[name="Token or kubeconfig"]').fill("bob-token");
    await first.locator('role=button[name="Sign in"]').click();
    await seen(first, "role=tree");
    await second.goto(`${server.url}/console/`);
    await seen(second, "role=tree");
    await first.locator("summary >> text=bob").click();
    await first.locator('role=button[name="Sign out"]').click();
    for (const one of [first, second]) await seen(one, "text=You have signed out, in all tabs.");
    await seen(second, 'role=textbox[name="Token or kubeconfig"]');
    await profile.close();
  });

  it("signs in at an issuer, and shows the page from which the user left, in all tabs of the browser", async () => {
    await using issuer = await TestIssuer.start();
    const files = tree({ "issuer.crt": issuer.authority.cert });
    const claims = ["--oidc-username-claim=sub", "--oidc-username-prefix=oidc:", "--oidc-client-id=vw"];
    const flags = [`--oidc-issuer-url=${issuer.url}`, `--oidc-ca-file=${join(files.path, "issuer.crt")}`, ...claims];
    await using other = await Start.ready({ flags: [...flags, "--console-oidc-client-id=vw"] });
    if (browser === undefined) throw new Error("there is no browser");
    const profile = await browser.newContext({ ignoreHTTPSErrors: true });
    const [jane, second] = [await profile.newPage(), await profile.newPage()];
    for (const one of [jane, second]) await one.goto(`${other.url}/console/${CONFIG_MAPS}`);
    await seen(second, 'role=textbox[name="Token or kubeconfig"]');
    await jane.locator("role=button[name=/^Sign in with/]").click();
    await seen(jane, "summary >> text=oidc:jane");
    expect(jane.url()).to.match(/#\/workspaces\/root\/core\/v1\/configmaps/);
    await seen(second, "summary >> text=oidc:jane");
    await profile.close();
    issuer.browser = undefined;
    const { tab: denied } = await openTab(browser, `${other.url}/console/`);
    await denied.locator("role=button[name=/^Sign in with/]").click();
    await seen(denied, "text=The issuer says that you denied the sign-in.");
    await denied.close();
    files[Symbol.dispose]();
  });

  it("goes on after a restart of the server", async () => {
    await tab.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await seen(tab, 'role=rowheader[name="b"]');
    expect(await server.end("SIGTERM")).to.equal(0);
    await seen(tab, "text=/Connection to the server lost/");
    const { port } = new URL(server.url);
    const { path } = server.folder;
    const again = await Start.ready({
      in: path,
      at: ["--bind-address=127.0.0.1", `--secure-port=${port}`],
      flags: ["--keep-kubeconfig"],
    });
    try {
      await gone(tab, "text=/Connection to the server lost/");
      expect(await again.kubectl("create", "configmap", "later")).to.match(/^0 /);
      await seen(tab, 'role=rowheader[name="later"]');
      await tab.locator("summary >> text=kcp-admin").click();
      await tab.locator('role=button[name="Sign out"]').click();
      await seen(tab, 'role=textbox[name="Token or kubeconfig"]');
    } finally {
      await again.end("SIGTERM");
    }
  });
});
