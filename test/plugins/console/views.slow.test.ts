// The virtual workspaces of a server in the console, and an object through all of them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { AUTHORITY, Front } from "../../cli/support/front.ts";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const NAMES = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };
const EXPORT = [
  {
    apiVersion: "apis.kcp.io/v1alpha1",
    kind: "APIResourceSchema",
    metadata: { name: "v1.widgets.example.dev" },
    spec: {
      ...{ group: "example.dev", names: NAMES, scope: "Namespaced" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      ],
    },
  },
  {
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIExport",
    metadata: { name: "widgets" },
    spec: {
      resources: [{ group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev", storage: { crd: {} } }],
    },
  },
];
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "widgets" },
  spec: { reference: { export: { path: "root:provider", name: "widgets" } } },
};
const WIDGET = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "cog" }, spec: { size: 1 } };
const USERS = 'bob-token,bob,bob,"readers"\n';
const RBAC = "rbac.authorization.k8s.io";
const RIGHTS = {
  apiVersion: `${RBAC}/v1`,
  kind: "ClusterRoleBinding",
  metadata: { name: "bob" },
  roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "view" },
  subjects: [{ apiGroup: RBAC, kind: "User", name: "bob" }],
};

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

describe("virtual workspaces in the console", function () {
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
    server = await Start.ready({ files: { "tokens.csv": USERS } });
    await make();
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  async function kubectl(workspace: string, ...args: readonly string[]): Promise<void> {
    const answer = await server.kubectl("--server", `${server.url}/clusters/${workspace}`, ...args);
    expect(answer, answer).to.match(/^0 /);
  }
  async function apply(workspace: string, ...items: readonly object[]): Promise<void> {
    const file = join(server.folder.path, "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await kubectl(workspace, "apply", "-f", file);
  }
  /** Makes an export in root:provider, and an object of it in root:user. */
  async function make(): Promise<void> {
    const names = ["provider", "user"];
    await apply(
      "root",
      RIGHTS,
      ...names.map((name) => ({
        apiVersion: "tenancy.kcp.io/v1alpha1",
        kind: "Workspace",
        metadata: { name },
        spec: {},
      })),
    );
    await kubectl("root", "wait", "workspace", ...names, "--for=jsonpath={.status.phase}=Ready");
    await apply("root:provider", ...EXPORT);
    await apply("root:user", BINDING);
    await kubectl("root:user", "wait", "apibinding", "widgets", "--for=jsonpath={.status.phase}=Bound");
    await apply("root:user", WIDGET);
  }
  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/#/workspaces/${hash}`);
  const WIDGET_PAGE = "root:user/example.dev/v1/widgets/object/default/cog?view=views";

  it("are listed with their paths, their state and their APIs", async () => {
    await tab.locator("role=link[name=Views]").click();
    const row = "role=row[name=/^query /]";
    await seen(tab, `${row} >> text="/services/query/clusters/{cluster}"`);
    await seen(tab, `${row} >> text=Ready`);
    await tab.locator('role=button[name="Show APIs: query"]').click();
    await seen(tab, "role=list[name='APIs of query'] >> text=/configmaps/");
    await seen(
      tab,
      "role=row[name=/^apiexport /] >> text='/services/apiexport/{exportCluster}/{export}/clusters/{cluster}'",
    );
  });

  it("are listed with the URLs that objects publish", async () => {
    await open("root:provider?view=views");
    await seen(tab, "role=row[name=/^widgets APIExport root:provider/] >> text=/services.apiexport/");
    await tab.locator('role=button[name="Show APIs: widgets"]').click();
    await seen(tab, "role=list[name='APIs of widgets'] >> text=widgets");
    await seen(tab, `text=/virtual-workspaces doctor ${server.url}.clusters/`);
  });

  it("are checked when the user presses the button, with the server, the workspace and the published URLs", async () => {
    await open("root:provider?view=views");
    await seen(tab, "role=row[name=/^widgets APIExport root:provider/]");
    await tab.locator('role=button[name="Check now"]').click();
    const results = "role=table[name='Check now']";
    await seen(tab, `${results} >> role=row[name=/Server the server is ready OK .readyz answers ok/]`);
    await seen(tab, `${results} >> role=row[name=/Server its certificate is valid Not checked a page does not see/]`);
    await seen(tab, `${results} >> role=row[name=/Server the server authenticates the user OK kcp-admin, groups: /]`);
    await seen(tab, `${results} >> role=row[name=/root:provider a watch syncs OK namespaces: [0-9]+ objects in/]`);
    await seen(tab, `${results} >> role=row[name=/query a watch syncs OK namespaces: [0-9]+ objects in/]`);
    await seen(tab, `${results} >> role=row[name=/apiexport the user has access Not checked its path has further/]`);
    await seen(tab, `${results} >> role=row[name=/widgets .services.apiexport.+ a watch syncs OK/]`);
    await seen(tab, "text=/^[0-9]+ OK, 0 failed, [0-9]+ not checked$/");
    expect(await axeFaults(tab)).to.deep.equal([]);
  });

  it("are tested for conformance by reads alone", async () => {
    await open("root:user?view=views");
    await tab.locator('role=button[name="Test now"]').click();
    const results = "role=table[name='Test now']";
    await seen(
      tab,
      `${results} >> role=row[name=/root:user T1: a watch ends its first state .+ OK namespaces: [0-9]+/]`,
    );
    await seen(tab, `${results} >> role=row[name=/query T3: the next page of a list .+ OK the same version/]`);
    await seen(tab, `${results} >> role=row[name=/query E: the answer for a missing object .+ OK 404 NotFound/]`);
    await seen(tab, "text=/^[0-9]+ OK, 0 failed, [0-9]+ not checked$/");
  });

  it("are listed without their paths to users who may not read these", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: bob } = await openTab(browser, `${server.url}/console/#/workspaces/root?view=views`);
    await bob.locator('role=textbox[name="Token or kubeconfig"]').fill("bob-token");
    await bob.locator('role=button[name="Sign in"]').click();
    await seen(bob, "text=/The paths of the virtual workspaces cannot be read/");
    await seen(bob, "role=row[name=/^query Ready/]");
    expect(await bob.locator("text=/services.apiexport.{/").count()).to.equal(0);
    await bob.locator('role=button[name="Check now"]').click();
    const results = "role=table[name='Check now']";
    await seen(bob, `${results} >> role=row[name=/Server the server authenticates the user OK bob, groups: readers/]`);
    await seen(bob, `${results} >> role=row[name=/query the user has access Not checked you may not read its path/]`);
    await seen(bob, "text=/^[0-9]+ OK, 0 failed, [0-9]+ not checked$/");
    await bob.close();
  });

  it("show an object, or say that they do not", async () => {
    await open(WIDGET_PAGE);
    await seen(tab, "role=listitem >> text=query >> xpath=.. >> text=Shown");
    await seen(tab, "role=listitem >> text='Export widgets' >> xpath=.. >> text=Shown");
    await tab.locator('role=button[name="Compare: query"]').click();
    await seen(tab, "text=The view shows the object as it is in the workspace.");
    expect(await tab.locator("text=/services.workspaces/").count(), "a view without the resource").to.equal(0);
    await open("root/tenancy.kcp.io/v1alpha1/workspaces/object/-/user?view=views");
    await seen(tab, "role=listitem >> text=/services.workspaces.clusters.root/");
    await tab.locator('role=button[name="Compare: workspaces"]').click();
    await seen(tab, "text=Through workspaces");
    await seen(tab, ".comparison .cm-content");
  });

  it("have no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const found: string[] = [];
    for (const hash of ["root:provider?view=views", WIDGET_PAGE])
      for (const [width, colorScheme] of [
        [1400, "dark"],
        [390, "light"],
      ] as const) {
        await tab.setViewportSize({ width, height: 900 });
        await tab.emulateMedia({ colorScheme });
        await open(hash);
        await seen(tab, "text=/services.apiexport/");
        found.push(...(await axeFaults(tab)).map((fault) => `${hash} ${width} ${colorScheme} ${fault}`));
      }
    expect(found).to.deep.equal([]);
  });
});

describe("the console of a front proxy before a server without query views", function () {
  this.timeout(120_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let front: Front;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    front = await Front.ready({
      users: 'alice-token,alice,alice,"system:kcp:admin"\n',
      own: ["--console"],
      // Nothing listens there, so the proxy answers 503.
      mapping: ["/services/apiexport/", "/elsewhere/"].map((path) => ({
        ...{ path, backend: "https://127.0.0.1:1", ca: AUTHORITY.cert },
      })),
    });
    await apply(...EXPORT, { ...BINDING, spec: { reference: { export: { path: "root", name: "widgets" } } } });
    ({ tab, faults } = await openTab(browser, `${front.url}/console/`));
    await tab.locator('role=textbox[name="Token or kubeconfig"]').fill("alice-token");
    await tab.locator('role=button[name="Sign in"]').click();
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await front?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  /** Creates objects in `root`, as an administrator of the server behind the proxy. */
  async function apply(...items: readonly object[]): Promise<void> {
    const file = join(front.folder.path, "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const answer = await front.server.kubectl("--server", `${front.server.url}/clusters/root`, "apply", "-f", file);
    expect(answer, answer).to.match(/^0 /);
  }
  const open = (hash: string): Promise<unknown> => tab.goto(`${front.url}/console/#/workspaces/${hash}`);

  it("offers no table over all workspaces, and says why beside the checkbox", async () => {
    await open("root/core/v1/configmaps");
    await seen(tab, "text=/the browser loads and sorts the whole list/");
    const box = tab.locator("role=checkbox[name='All workspaces']");
    await box.focus();
    expect(await tab.evaluate("document.activeElement.getAttribute('aria-disabled')")).to.equal("true");
    const described = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent";
    expect(await tab.evaluate(described)).to.equal("This server has no query views.");
    await tab.keyboard.press("Space");
    expect(tab.url()).to.not.include("all=1");
    expect(await tab.evaluate("document.activeElement.checked")).to.equal(false);
    expect(await axeFaults(tab)).to.deep.equal([]);
  });

  it("lists the paths of its mapping file apart from virtual workspaces, and neither checks nor tests them", async () => {
    await open("root?view=views");
    await seen(tab, "role=list[name='Mapped paths'] >> text='/services/apiexport/'");
    await seen(tab, "role=list[name='Mapped paths'] >> text='/elsewhere/'");
    expect(await tab.locator("role=row[name=/^(mapped|services) /]").count()).to.equal(0);
    expect(await tab.locator("role=button[name=/Show APIs: (mapped|services)/]").count()).to.equal(0);
    for (const name of ["Check now", "Test now"]) {
      await tab.locator(`role=button[name="${name}"]`).click();
      await seen(tab, `role=table[name='${name}'] >> role=row[name=/^root /]`);
      await seen(tab, `role=button[name="${name}"][disabled=false]`);
      const results = await tab.locator(`role=table[name='${name}'] >> role=row`).allInnerTexts();
      expect(results.filter((text) => /^(mapped|services)\b/.test(text))).to.deep.equal([]);
    }
    await open("root?view=views&of=mapped");
    await seen(tab, "role=article[name=mapped] >> text='/elsewhere/'");
    expect(await tab.locator("role=button[name=/Show APIs/]").count()).to.equal(0);
  });

  it("keeps the session of a token that only the servers behind the proxy know", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    const { tab: admin } = await openTab(browser, `${front.url}/console/`);
    await admin.locator('role=textbox[name="Token or kubeconfig"]').fill(front.server.token("kcp-admin"));
    await admin.locator('role=button[name="Sign in"]').click();
    await seen(admin, "role=treeitem[name=/^root/]");
    await admin.locator("role=link[name=Views]").click();
    await seen(admin, "text=/The paths of the virtual workspaces cannot be read/");
    await seen(admin, "role=row[name=/^clusters Ready/]");
    await admin.close();
  });

  it("says that the bindings of an export cannot be read, with the error", async () => {
    await open("root/apis.kcp.io/v1alpha2/apiexports/object/-/widgets?view=kcp");
    await seen(tab, "role=region[name='Bound by'] >> text=/^Cannot read the bindings: 503 /");
    expect(await tab.locator("text=/No workspace that you may see binds/").count()).to.equal(0);
    await tab.locator('role=button[name="Delete"]').click();
    await seen(tab, "role=dialog >> text=/^Cannot read the bindings: 503 /");
  });
});
