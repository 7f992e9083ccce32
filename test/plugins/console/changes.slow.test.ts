// What has changed in a workspace, as the console shows it: from lists, the history of watches, and their events.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

describe("changes of a workspace in the console", function () {
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

  const kubectl = async (...args: readonly string[]): Promise<void> => {
    expect(await server.kubectl(...args)).to.match(/^0 /);
  };
  /** The row of a change, such as `deleted`, of an object. */
  const rowOf = (type: string, name: string): string =>
    `css=tr:has(.badge:text-is("${type}")):has(th bdi:text-is("${name}"))`;

  it("show what was created, changed and deleted before the page was open, and by which field manager", async () => {
    await kubectl("create", "configmap", "stays", "--from-literal=color=green");
    await kubectl("patch", "configmap", "stays", '--patch={"data":{"color":"blue"}}');
    await kubectl("create", "configmap", "gone", "--from-literal=color=red");
    await kubectl("delete", "configmap", "gone");
    await kubectl("create", "configmap", "later", "--from-literal=color=red");
    await tab.goto(`${server.url}/console/#/workspaces/root`);
    await tab.locator('role=link[name="Changes"]').click();
    await seen(tab, "role=region[name='Changes in the last hour'] >> text=Live");
    await seen(tab, `${rowOf("created", "stays")} >> text=kubectl-create`);
    await seen(tab, `${rowOf("changed", "stays")} >> text=kubectl-patch`);
    await seen(tab, `${rowOf("changed", "stays")} >> text=data.color`);
    await seen(tab, rowOf("created", "gone"));
    await seen(tab, rowOf("deleted", "gone"));
    expect(await tab.locator(`${rowOf("created", "gone")} >> role=link`).count()).to.equal(0);
  });

  it("show changes as they happen, newest first", async () => {
    await kubectl("create", "configmap", "fresh", "--from-literal=size=1");
    await seen(tab, rowOf("created", "fresh"));
    await kubectl("label", "configmap", "fresh", "tier=cache");
    await seen(tab, `${rowOf("changed", "fresh")} >> text=metadata.labels`);
    await kubectl("delete", "configmap", "fresh");
    await seen(tab, rowOf("deleted", "fresh"));
    const [first = ""] = await tab.locator("tbody > tr").allInnerTexts();
    expect(first).to.match(/deleted\s+ConfigMap fresh/);
  });

  it("find changes, and those of a kind that has just been added", async () => {
    const file = join(server.folder.path, "crd.json");
    const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
    const names = { plural: "gears", singular: "gear", kind: "Gear" };
    const spec = { group: "example.dev", names, scope: "Namespaced", versions };
    const metadata = { name: "gears.example.dev" };
    const kind = "CustomResourceDefinition";
    writeFileSync(file, JSON.stringify({ apiVersion: "apiextensions.k8s.io/v1", kind, metadata, spec }));
    await kubectl("apply", "--server-side", "-f", file);
    await kubectl("wait", "--for=condition=Established", "crd/gears.example.dev");
    const gear = { apiVersion: "example.dev/v1", kind: "Gear", metadata: { name: "cog" }, spec: { size: 1 } };
    writeFileSync(file, JSON.stringify(gear));
    await kubectl("apply", "--server-side", "--field-manager=cog-maker", "-f", file);
    await seen(tab, `${rowOf("created", "cog")} >> text=cog-maker`);
    await tab.locator('role=region[name="Changes in the last hour"] >> role=searchbox').fill("cog-maker");
    await seen(tab, "text=/^1 change$/");
    expect(await tab.locator("tbody > tr").count()).to.equal(1);
  });

  it("say what is not known, without a serious fault of accessibility", async () => {
    await seen(tab, "text=/Each change and deletion since/");
    await seen(tab, "text=/Earlier changes of the same manager, and deletions, are not known/");
    expect(await axeFaults(tab)).to.deep.equal([]);
  });
});
