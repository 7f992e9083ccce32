// An API from a pasted schema to its objects in several workspaces, and a mounted cluster, all by the console in a browser.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const WIDGETS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.dev }
spec:
  group: example.dev
  names: { plural: widgets, singular: widget, kind: Widget }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: { spec: { type: object, properties: { size: { type: integer } } } }
`;

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

/** Link of a server's first line about the console. */
const linkOf = (server: Start): string =>
  server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";

describe("APIs and mounts in the console", function () {
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
    server = await Start.ready({ flags: ["--batteries-included=+mounts", "--mount-allow=127.0.0.1"] });
    ({ tab, faults } = await openTab(browser, linkOf(server)));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/#/workspaces/${hash}`);
  const button = (name: string): Promise<void> => tab.locator(`role=button[name="${name}"]`).first().click();
  const inDialog = (name: string): Promise<void> => tab.locator(`role=dialog >> role=button[name="${name}"]`).click();
  const fill = (label: string, text: string): Promise<void> =>
    tab.locator(`role=dialog >> internal:label="${label}"s`).first().fill(text);

  const kubectl = (workspace: string, ...args: readonly string[]): Promise<string> =>
    server.kubectl("--server", `${server.url}/clusters/${workspace}`, ...args);

  /** Creates a workspace below root. */
  async function workspace(name: string): Promise<void> {
    await open("root");
    await button("Create workspace");
    await fill("Name", name);
    await inDialog("Create");
    await gone(tab, "role=dialog");
  }

  it("export an API from a pasted schema, and bind it in two workspaces", async () => {
    for (const name of ["provider", "one", "two"]) await workspace(name);
    await open("root:provider");
    await button("Export an API");
    await fill("Resources", "kind: Pod\nspec: {}");
    await seen(tab, "role=dialog >> text=/Pod cannot be exported/");
    await fill(
      "Resources",
      WIDGETS.replace("size: { type: integer }", "size: { type: string, maxLenght: 9, x-kubernetes-a: 1 }"),
    );
    await seen(tab, "role=dialog >> role=listitem >> text='Unknown keyword maxLenght in spec.size'");
    await seen(tab, "role=dialog >> role=button[name='Export anyway']");
    expect(await tab.locator("text=/Unknown keyword/").count()).to.equal(1);
    await fill(
      "Resources",
      WIDGETS.replace("size: { type: integer }", "size: { type: interger }, color: { type: strin }"),
    );
    await inDialog("Export");
    await seen(tab, "role=dialog >> role=alert >> role=listitem >> text=/^spec.*interger/");
    await fill("Resources", WIDGETS);
    await fill("Name of the export", "widgets");
    await inDialog("Export");
    await seen(tab, "role=dialog >> text=/Identity hash/");
    for (const name of ["one", "two"]) {
      await open(`root:${name}`);
      await button("Bind an export");
      await fill("Workspace of the export", "root:provider");
      await fill("Name of the export", "widgets");
      await inDialog("Bind");
      await seen(tab, "role=dialog >> text=/is bound/");
    }
  });

  it("say before a binding that there is one, and after one that failed that the export is not known", async () => {
    await tab.keyboard.press("Escape");
    await button("Bind an export");
    await fill("Workspace of the export", "root:provider");
    await fill("Name of the export", "widgets");
    await seen(tab, "role=dialog >> text='root:two already binds this export: widgets.'");
    await fill("Name of the export", "wigets");
    await inDialog("Bind");
    await seen(tab, "role=dialog >> role=alert >> text=/No export wigets is known in root:provider/");
    await inDialog("Cancel");
  });

  it("show the objects of both workspaces live through the view of the export", async () => {
    await open("root:provider/apis.kcp.io/v1alpha2/apiexports/object/-/widgets?view=kcp");
    await seen(tab, "text=0 objects");
    for (const name of ["one", "two"]) {
      const widget = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "cog" }, spec: { size: 1 } };
      const file = join(server.folder.path, `${name}.json`);
      writeFileSync(file, JSON.stringify(widget));
      const path = `/clusters/root:${name}/apis/example.dev/v1/namespaces/default/widgets`;
      expect(await server.kubectl("--context=base", "create", "--raw", path, "-f", file)).to.match(/^0 /);
    }
    await seen(tab, "text=2 objects");
  });

  it("copy a kubeconfig of the export, with which kubectl reads all workspaces once it has a token", async () => {
    await tab.locator("role=button[name=/^Copy kubeconfig/]").first().click();
    await seen(tab, ".confirmation >> text=Copied. Set the token before use.");
    const text = await tab.evaluate<string>("navigator.clipboard.readText()");
    const token = /token: (\S+)/.exec(server.text("admin.kubeconfig"))?.[1];
    const file = join(server.folder.path, "view.kubeconfig");
    writeFileSync(file, text.replace('token: ""', `token: ${token}`));
    const get = ["--kubeconfig", file, "get", "widgets", "-A", "-o", "name"] as const;
    expect(await server.kubectl(...get)).to.match(/^0 widget.example.dev\/cog\s+widget.example.dev\/cog/);
  });

  it("mount a cluster, and look into it", async () => {
    await using remote = await Start.ready();
    await open("root:one");
    await button("Mount a cluster");
    await inDialog("Bind proxy.kcp.io");
    await fill("Name", "remote");
    await tab.locator("role=dialog >> textarea").last().fill(remote.text("admin.kubeconfig"));
    await inDialog("Mount");
    await seen(tab, "role=dialog >> text=remote is mounted.");
    await open("root:one:remote/core/v1/configmaps");
    await seen(tab, 'role=rowheader[name="kube-root-ca.crt"]');
    await open("root:one:remote/core/v1/configmaps/object/default/kube-root-ca.crt");
    await seen(tab, "text=Logical cluster at the target");
    await tab.locator('role=tab[name="Views"]').click();
    await seen(tab, "text=/of another server/");
    expect(await tab.locator("text=/services.query.clusters/").count(), "views of this server").to.equal(0);
    await open("root:one:remote");
    await seen(tab, "role=listitem >> text=/WorkspaceMountReady/");
    expect(await tab.locator("text=/without the annotation/").count()).to.equal(0);
    await seen(tab, 'role=definition >> role=link[name="Mount remote"]');
    await button("Unmount");
    await seen(tab, 'role=dialog[name="Unmount root:one:remote"] >> text=/The cluster keeps its objects/');
    await tab.locator("role=dialog >> role=checkbox").click();
    await tab.locator("role=dialog >> role=textbox").fill("remote");
    await inDialog("Unmount");
    await gone(tab, "role=treeitem[name=/^remote/]");
    for (const kind of ["mount", "secret"])
      expect(await kubectl("root:one", "get", kind, "remote", "--ignore-not-found")).to.equal("0 ");
  });

  it("delete a binding and an export after saying what becomes of their objects", async () => {
    await open("root:one/apis.kcp.io/v1alpha2/apibindings/object/-/widgets");
    await button("Delete");
    await seen(tab, "role=dialog >> text='All objects of widgets.example.dev in root:one are deleted: 1 object.'");
    expect(await tab.locator("role=dialog >> role=radio").count()).to.equal(0);
    await fill("Type widgets to confirm", "widgets");
    await inDialog("Delete");
    await seen(tab, "text=/has been deleted/");
    await open("root:provider/apis.kcp.io/v1alpha2/apiexports/object/-/widgets");
    await button("Delete");
    await seen(tab, 'role=dialog >> role=listitem >> text="root:two"');
    await inDialog("Cancel");
  });
});

describe("mounts in the console of a server without them", function () {
  this.timeout(60_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  before(async function () {
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) this.skip();
  });
  after(() => browser?.close());

  it("say how to start the server with them, and leave nothing behind", async () => {
    if (browser === undefined) throw new Error("there is no browser");
    await using server = await Start.ready({ files: { "tokens.csv": "bob-token,bob,bob\n" } });
    const { tab } = await openTab(browser, linkOf(server));
    await seen(tab, "role=treeitem[name=/^root/]");
    await tab.locator('role=button[name="Mount a cluster"]').click();
    await seen(tab, "role=dialog >> text=/--batteries-included=.mounts/");
    expect(await tab.locator('role=button[name="Bind proxy.kcp.io"]').count()).to.equal(0);
    // This user may not read the exports of root: the answer to the binding tells.
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "team" } };
    writeFileSync(join(server.folder.path, "team.json"), JSON.stringify(workspace));
    await server.kubectl("create", "-f", join(server.folder.path, "team.json"));
    await server.kubectl("wait", "workspace", "team", "--for=jsonpath={.status.phase}=Ready");
    const team = ["--server", `${server.url}/clusters/root:team`];
    await server.kubectl(...team, "create", "clusterrolebinding", "bob", "--clusterrole=cluster-admin", "--user=bob");
    const { tab: bob } = await openTab(browser, `${server.url}/console/`);
    await bob.locator('role=textbox[name="Token or kubeconfig"]').fill("bob-token");
    await bob.locator('role=button[name="Sign in"]').click();
    await seen(bob, "role=tree");
    await bob.goto(`${server.url}/console/#/workspaces/root:team`);
    await bob.locator('role=button[name="Mount a cluster"]').click();
    await bob.locator('role=button[name="Bind proxy.kcp.io"]').click();
    await seen(bob, "role=dialog >> text=/--batteries-included=.mounts/");
    const bindings = [...team, "get", "apibindings", "-o", "name"] as const;
    await bob.locator('role=dialog >> role=button[name="Close"]').last().click();
    await gone(bob, "role=dialog");
    expect(await server.kubectl(...bindings))
      .to.match(/^0 /)
      .and.not.include("/mounts");
  });
});
