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
  const button = (name: string): Promise<void> => tab.locator(`role=button[name="${name}"]`).first().click();
  const inDialog = (name: string): Promise<void> => tab.locator(`role=dialog >> role=button[name="${name}"]`).click();
  const fill = (label: string, text: string): Promise<void> =>
    tab.locator(`role=dialog >> internal:label="${label}"s`).first().fill(text);

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
  });
});
