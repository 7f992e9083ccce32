// Who may what in the console, in a browser: the page about access, acting as another user, and links of other users.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const ACCESS = "#/workspaces/root?view=access";
const CONFIG_MAPS = "#/workspaces/root/core/v1/configmaps";

const GET = { verb: "get", resource: "configmaps", namespace: "default" };

/** Question of an address. */
const ask = (question: Readonly<Record<string, string>>): string =>
  `${ACCESS}&ask=${encodeURIComponent(new URLSearchParams(question).toString())}`;

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

describe("access in the console", function () {
  this.timeout(120_000);
  let browser: NonNullable<Awaited<ReturnType<typeof startBrowser>>>;
  let server: Start;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    const found = await startBrowser();
    if (found === undefined) return this.skip();
    browser = found;
    server = await Start.ready({ files: { "tokens.csv": "bob-token,bob,bob\ncarol-token,carol,carol\n" } });
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/${hash}`);
  const kubectl = async (...args: readonly string[]): Promise<void> => {
    expect(await server.kubectl(...args)).to.match(/^0 /);
  };

  /** Signs in with a token, in a profile of its own. */
  async function signedIn(token: string): Promise<ConsoleTab> {
    const { tab: other } = await openTab(browser, `${server.url}/console/`);
    await other.locator('role=textbox[name="Token or kubeconfig"]').fill(token);
    await other.locator('role=button[name="Sign in"]').click();
    await seen(other, ".console");
    return other;
  }

  /** Opens a one-time link of carol in a tab. */
  async function openLinkOfCarol(other: ConsoleTab): Promise<void> {
    const headers = JSON.stringify({ Authorization: "Bearer carol-token" });
    const made = `fetch("codes", { method: "POST", headers: ${headers} }).then((it) => it.json())`;
    const { code } = await other.evaluate<{ code: string }>(made);
    await other.goto("about:blank");
    await other.goto(`${server.url}/console/#code=${code}`);
  }

  it("is reached by a key, the overview and the menu, and says who the user is and what they may do", async () => {
    await open("#/workspaces/root");
    await seen(tab, "role=treeitem[name=/^root/]");
    await tab.keyboard.press("a");
    await seen(tab, 'role=heading[name="Who you are here"]');
    await seen(tab, "role=definition >> text=kcp-admin");
    await seen(tab, 'role=rowheader[name="selfsubjectrulesreviews.authorization.k8s.io"]');
    await tab.locator('role=searchbox[name="Filter"]').fill("workspacetypes");
    await gone(tab, 'role=rowheader[name="selfsubjectrulesreviews.authorization.k8s.io"]');
    await seen(tab, 'role=rowheader[name="workspacetypes.tenancy.kcp.io"]');
    await open("#/workspaces/root");
    await tab.locator('role=link[name="Access"]').first().click();
    await seen(tab, 'role=heading[name="Who you are here"]');
    await tab.locator("summary >> text=kcp-admin").click();
    await tab.locator('.account >> role=link[name="Access"]').click();
    await seen(tab, 'role=heading[name="Who you are here"]');
  });

  it("answers who may do something, with the subjects of bindings, live", async () => {
    await open(ACCESS);
    await tab.locator('role=combobox[name="Resource"]').fill("configmaps");
    await tab.locator('role=textbox[name="User name"]').fill("carol");
    await tab.locator('role=combobox[name="Namespace"]').fill("default");
    await tab.keyboard.press("Enter");
    await seen(tab, "text=carol may not get configmaps in default.");
    await tab.locator('role=combobox[name="Resource"]').fill("gadgets");
    await tab.keyboard.press("Enter");
    await seen(tab, "text=This workspace serves no gadgets.");
    await tab.locator('role=combobox[name="Resource"]').fill("configmaps");
    await tab.keyboard.press("Enter");
    await seen(tab, "text=carol may not get configmaps in default.");
    const link = tab.url();
    await kubectl("create", "rolebinding", "carol", "--clusterrole=reader", "--user=carol");
    await kubectl("create", "clusterrole", "reader", "--verb=get,list,watch", "--resource=configmaps");
    await seen(tab, 'role=rowheader[name="carol"]');
    await seen(tab, "text=carol may get configmaps in default.");
    await seen(tab, "text=Granted by the RoleBinding carol with the ClusterRole reader.");
    await tab.goto("about:blank");
    await tab.goto(link);
    await seen(tab, "text=carol may get configmaps in default.");
    await kubectl("create", "clusterrole", "nothing", "--verb=get", "--resource=secrets");
    await kubectl("delete", "rolebinding", "carol");
    await seen(tab, "text=carol may not get configmaps in default.");
    await gone(tab, 'role=rowheader[name="carol"]');
  });

  it("says which right a user lacks to see what others may", async () => {
    const bob = await signedIn("bob-token");
    await bob.goto(`${server.url}/console/${ask({ ...GET, user: "carol" })}`);
    await seen(bob, "text=/You need the right to create subjectaccessreviews.authorization.k8s.io/");
    await seen(bob, "text=/You may not list .*clusterrolebindings/");
    await bob.goto(`${server.url}/console/${ask(GET)}`);
    await seen(bob, "text=You may not get configmaps in default.");
    await bob.locator('role=textbox[name="User to act as"]').fill("carol");
    await bob.locator('role=button[name="Act as this user"]').click();
    await seen(bob, "text=/You may not impersonate users carol here/");
    expect(await bob.locator('role=region[name="Acting as another user"]').count()).to.equal(0);
    const metadata = { name: "private" };
    const file = join(server.folder.path, "private.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata }));
    await kubectl("create", "-f", file);
    await kubectl("wait", "workspace", "private", "--for=jsonpath={.status.phase}=Ready");
    await bob.goto(`${server.url}/console/#/workspaces/root:private`);
    await seen(bob, "role=alert >> text=You may not enter root:private");
    await bob.goto(`${server.url}/console/#/workspaces/root`);
    await seen(bob, 'role=button[name="Export an API"][disabled]');
    await bob.close();
  });

  it("shows the namespace default to a user who may not list the objects of all namespaces", async () => {
    await kubectl("create", "rolebinding", "bob", "--clusterrole=reader", "--user=bob");
    const bob = await signedIn("bob-token");
    await bob.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await seen(bob, 'role=rowheader[name="kube-root-ca.crt"]');
    expect(bob.url()).to.include("namespace=default");
    await seen(bob, 'role=button[name="Create"][disabled]');
    await bob.close();
  });

  it("lets a tab act as another user, in all requests, until the button or the session ends it", async () => {
    await kubectl("create", "rolebinding", "carol", "--clusterrole=reader", "--user=carol");
    await open(ACCESS);
    await tab.locator('role=textbox[name="User to act as"]').fill("carol");
    await tab.locator('role=button[name="Act as this user"]').click();
    const banner = 'role=region[name="Acting as another user"]';
    await seen(tab, `${banner} >> text=carol`);
    await seen(tab, "summary >> text=carol");
    const above =
      "document.querySelector('.banner.acting').getBoundingClientRect().bottom <= document.querySelector('#content').getBoundingClientRect().top";
    expect(await tab.evaluate(above), "the banner is above the page").to.equal(true);
    await seen(tab, "role=definition >> text=carol");
    await open(`${CONFIG_MAPS}?namespace=default`);
    await seen(tab, 'role=rowheader[name="kube-root-ca.crt"]');
    await kubectl("create", "configmap", "acted");
    await seen(tab, 'role=rowheader[name="acted"]');
    await open("#/workspaces/root/core/v1/secrets");
    await seen(tab, 'text=/User "carol" cannot list resource "secrets"/');
    await tab.reload();
    await seen(tab, `${banner} >> text=carol`);
    await tab.locator(`${banner} >> role=button`).click();
    await gone(tab, banner);
    await gone(tab, 'text=/cannot list resource "secrets"/');
  });

  it("lets a user act who may do so in some requests only, by constrained impersonation", async () => {
    const on = ["get", "list", "watch"].map((verb) => `impersonate-on:user-info:${verb}`);
    const rules = [
      {
        apiGroups: ["authentication.k8s.io"],
        resources: ["users"],
        resourceNames: ["carol"],
        verbs: ["impersonate:user-info"],
      },
      { apiGroups: [""], resources: ["configmaps"], verbs: on },
      { nonResourceURLs: ["*"], verbs: on },
    ];
    const metadata = { name: "some-as-carol" };
    const rbac = "rbac.authorization.k8s.io";
    const role = { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata, rules };
    const file = join(server.folder.path, "role.json");
    writeFileSync(file, JSON.stringify(role));
    await kubectl("apply", "-f", file);
    await kubectl("create", "clusterrolebinding", "some-as-carol", "--clusterrole=some-as-carol", "--user=bob");
    const bob = await signedIn("bob-token");
    await bob.goto(`${server.url}/console/${ACCESS}`);
    await bob.locator('role=textbox[name="User to act as"]').fill("carol");
    await bob.keyboard.press("Enter");
    await seen(bob, 'role=region[name="Acting as another user"]');
    await seen(bob, "text=/cannot impersonate-on:user-info:create/");
    await bob.goto(`${server.url}/console/${CONFIG_MAPS}?namespace=default`);
    await seen(bob, 'role=rowheader[name="kube-root-ca.crt"]');
    await bob.goto(`${server.url}/console/#/workspaces/root:private`);
    await seen(bob, "role=alert >> text=You may not act as carol in root:private");
    await bob.close();
  });

  it("ends acting when the user signs out", async () => {
    const admin = await signedIn(server.text("admin.kubeconfig"));
    await admin.goto(`${server.url}/console/${ACCESS}`);
    await admin.locator('role=textbox[name="User to act as"]').fill("carol");
    await admin.keyboard.press("Enter");
    await seen(admin, 'role=region[name="Acting as another user"]');
    await admin.locator("summary >> text=kcp-admin").click();
    await admin.locator('role=button[name="Sign out"]').click();
    await admin.locator('role=textbox[name="Token or kubeconfig"]').fill("bob-token");
    await admin.locator('role=button[name="Sign in"]').click();
    await seen(admin, "summary >> text=bob");
    await seen(admin, "role=definition >> text=bob");
    expect(await admin.evaluate("sessionStorage.length")).to.equal(0);
    await admin.close();
  });

  it("names both users before the link of another user replaces a session", async () => {
    const bob = await signedIn("bob-token");
    for (const choice of ["Stay signed in as bob", "Sign in as carol"]) {
      await openLinkOfCarol(bob);
      await seen(bob, "role=dialog >> text=/You are signed in as bob.*signs this browser in as carol/");
      await seen(bob, "summary >> text=bob");
      await bob.locator(`role=button[name="${choice}"]`).click();
      await gone(bob, "role=dialog");
    }
    await seen(bob, "summary >> text=carol");
    await bob.close();
  });

  it("replaces a session whose token is no longer valid at once", async () => {
    await kubectl("create", "serviceaccount", "gone");
    const token = (await server.kubectl("create", "token", "gone")).replace(/^0 /, "").trim();
    const gone = await signedIn(token);
    await kubectl("delete", "serviceaccount", "gone");
    await gone.goto(`${server.url}/console/${CONFIG_MAPS}`);
    await seen(gone, "text=/Your session has ended: the server has restarted, or no longer accepts its token/");
    expect(await gone.locator("[aria-invalid=true]").count()).to.equal(0);
    await gone.reload();
    await seen(gone, "text=/Your session has ended: the server has restarted, or no longer accepts its token/");
    await openLinkOfCarol(gone);
    await seen(gone, "summary >> text=carol");
    await gone.close();
  });

  it("has no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const found: string[] = [];
    for (const width of [1400, 390])
      for (const colorScheme of ["light", "dark"] as const) {
        await tab.setViewportSize({ width, height: 900 });
        await tab.emulateMedia({ colorScheme });
        await open(ask({ ...GET, user: "carol", groups: "system:authenticated" }));
        await seen(tab, "text=carol may get configmaps in default.");
        await seen(tab, 'role=rowheader[name="carol"]');
        found.push(...(await axeFaults(tab)).map((fault) => `${width} ${colorScheme} ${fault}`));
      }
    expect(found).to.deep.equal([]);
  });
});
