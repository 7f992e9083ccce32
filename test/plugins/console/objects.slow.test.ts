// Tables and objects in the console, as first-time users meet them: confirmations, summaries, paths of workspaces, bindings.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const CONFIG_MAPS = "root/core/v1/configmaps";

const GEARS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gears.example.dev }
spec:
  group: example.dev
  names: { plural: gears, singular: gear, kind: Gear }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [size]
              properties: { size: { type: integer, minimum: 1 } }
`;
/** The same with one more field. */
const COLORED = GEARS.replace("minimum: 1 } }", "minimum: 1 }, color: { type: string } }");

/** A kind with each of the limits that the server checks. */
const DIALS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: dials.example.dev }
spec:
  group: example.dev
  names: { plural: dials, singular: dial, kind: Dial }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                most: { type: integer, maximum: 10 }
                below: { type: integer, maximum: 5, exclusiveMaximum: true }
                above: { type: integer, minimum: 0, exclusiveMinimum: true }
                step: { type: integer, multipleOf: 5 }
                name: { type: string, minLength: 2 }
                short: { type: string, maxLength: 5 }
                code: { type: string, pattern: "^[a-z][0-9]$" }
                color: { type: string, enum: [blue, green] }
                list: { type: array, maxItems: 2, items: { type: integer } }
`;
const PROBLEMS = [
  "Too large: use 10 or less",
  "Too large: use less than 5",
  "Too small: use more than 0",
  "Use a multiple of 5",
  "Too short: use 2 or more characters",
  "Too long: use 5 or fewer characters",
  "Does not match ^[a-z][0-9]$",
  "Unsupported value: use one of blue, green",
  "Too many items: use 2 or fewer",
];

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

describe("tables and objects in the console", function () {
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

  const open = (hash: string): Promise<unknown> => tab.goto(`${server.url}/console/#/workspaces/${hash}`);
  const kubectl = async (...args: readonly string[]): Promise<void> => {
    expect(await server.kubectl(...args)).to.match(/^0 /);
  };
  const button = (name: string): Promise<void> => tab.locator(`role=button[name="${name}"]`).first().click();
  const inDialog = (name: string): Promise<void> => tab.locator(`role=dialog >> role=button[name="${name}"]`).click();
  const fill = (label: string, text: string): Promise<void> =>
    tab.locator(`role=dialog >> internal:label="${label}"s`).first().fill(text);

  it("confirm what the user has done, for some seconds, over the page", async () => {
    await open("root");
    for (const name of ["team", "other"]) {
      await button("Create workspace");
      await fill("Name", name);
      await inDialog("Create");
      await seen(tab, `.confirmation:popover-open >> text=Workspace ${name} created.`);
    }
    await kubectl("create", "configmap", "short");
    await open(`${CONFIG_MAPS}/object/default/short`);
    await button("Delete");
    await inDialog("Delete");
    await seen(tab, ".confirmation:popover-open >> text=short is being deleted.");
    await seen(tab, "text=This object has been deleted.");
    await tab.locator(".confirmation").waitFor({ state: "hidden" });
    const regions = 'role=status >> text="short is being deleted."';
    expect(await tab.locator(regions).count()).to.equal(0);
  });

  it("show the data of an object, what the server shows of it in tables, and its fields", async () => {
    await kubectl("create", "configmap", "settings", "--from-literal=color=green");
    await open(`${CONFIG_MAPS}/object/default/settings`);
    await seen(tab, 'role=tabpanel >> role=region[name="Data"] >> text=green');
    await seen(tab, 'role=region[name="In tables"] >> role=term >> text=Data');
    await kubectl("patch", "configmap", "settings", '--patch={"data":{"color":"blue"}}');
    await seen(tab, 'role=tabpanel >> role=region[name="Data"] >> text=blue');
    await tab.locator('role=region[name="Data"] >> role=button[name="Copy the value of color"]').click();
    await seen(tab, 'role=region[name="Data"] >> text=Copied');
    expect(await tab.evaluate("navigator.clipboard.readText()")).to.equal("blue");
    await open("root/core.kcp.io/v1alpha1/logicalclusters/object/-/cluster");
    await seen(tab, 'role=region[name="Fields"] >> text=spec.directlyDeletable');
    expect(await tab.locator('role=region[name="In tables"]').count(), "values of fields only").to.equal(0);
  });

  it("show a value of a Secret only when the user wants to see it", async () => {
    const file = join(server.folder.path, "door.json");
    const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "door" }, stringData: { key: "sesame" } };
    writeFileSync(file, JSON.stringify(manifest));
    // The annotation of `apply` has the values, too.
    await kubectl("apply", "-f", file);
    await open("root/core/v1/secrets/object/default/door");
    await seen(tab, "text=Hidden, 6 bytes");
    await seen(tab, 'role=region[name="Annotations"]');
    expect(await tab.evaluate("document.body.innerHTML.includes('sesame')")).to.equal(false);
    await button("Show key");
    await seen(tab, "text=sesame");
    await button("Hide key");
    await gone(tab, "text=sesame");
  });

  it("name the line of a problem in YAML, without moving the text", async () => {
    await open(`${CONFIG_MAPS}/object/default/settings?view=yaml`);
    const place = "JSON.stringify(document.querySelector('.editor-host').getBoundingClientRect().top)";
    await seen(tab, ".cm-line >> text=/color: blue/");
    const before = await tab.evaluate<string>(place);
    await tab.locator(".cm-line >> text=/color: blue/").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.insertText("\n  size: [");
    await seen(tab, "role=list[name='Problems of the text'] >> role=button[name=/^Line [0-9]+:/]");
    await button("Review changes");
    await seen(tab, "role=list[name='Problems of the text'] >> role=button[name=/^Line [0-9]+:/]");
    expect(await tab.evaluate<string>(place)).to.equal(before);
    await button("Discard changes");
    await gone(tab, "role=list[name='Problems of the text']");
  });

  it("bind an export in a workspace from the page of the export, whose resources then come first", async () => {
    await open("root:team");
    await button("Export an API");
    await fill("Resources", GEARS);
    await fill("Name of the export", "gears");
    await inDialog("Export");
    await seen(tab, ".confirmation:popover-open >> text=/Export gears created/");
    await open("root:team/apis.kcp.io/v1alpha2/apiexports/object/-/gears");
    await seen(tab, 'role=tab[name="Export"][selected]');
    await seen(tab, "text=Bind it in a workspace to get its URL.");
    await button("Bind in a workspace…");
    await fill("Workspace", "root:missing");
    await inDialog("Continue");
    await seen(tab, "role=dialog >> text=There is no workspace root:missing.");
    await tab.locator('role=dialog >> role=radio[name="other"]').click();
    await inDialog("Continue");
    await inDialog("Back");
    await inDialog("Continue");
    await inDialog("Bind");
    await seen(tab, "role=dialog >> text=/is bound/");
    await tab.locator('role=dialog >> role=button[name="Close"]').last().click();
    await seen(tab, 'role=cell >> role=link[name="root:other"]');
    await open("root:other");
    await seen(tab, 'role=navigation[name="Resources"] >> role=link[name="gears"]');
    await seen(
      tab,
      'role=navigation[name="Resources"] >> section:first-of-type >> h2:has-text("example.dev") >> text=bound',
    );
  });

  it("update an export to a pasted schema, after saying what changes", async () => {
    await open("root:team");
    await button("Export an API");
    await fill("Resources", GEARS);
    await fill("Name of the export", "gears");
    await seen(tab, "role=dialog >> text=/gears.example.dev does not change/");
    await fill("Resources", COLORED);
    await seen(tab, "role=dialog >> text=/changes in 1 field: .*color/");
    await inDialog("Update gears to this schema");
    await seen(tab, ".confirmation:popover-open >> text=Export gears updated.");
    await tab.locator('role=dialog >> role=button[name="Close"]').last().click();
    await open("root:other/example.dev/v1/gears?view=create");
    await seen(tab, ".cm-line >> text=/size: 1/");
    await seen(tab, "text=A name is needed");
    await tab.locator(".cm-line >> text=/name: /").first().click();
    await tab.keyboard.press("End");
    await tab.keyboard.press("ArrowLeft");
    await tab.keyboard.insertText("wheel");
    await gone(tab, "text=A name is needed");
    await tab.locator(".cm-line >> text=/size: 1/").click();
    await tab.keyboard.press("End");
    await tab.keyboard.press("Backspace");
    await tab.keyboard.insertText("0");
    const problems = tab.locator("role=list[name='Problems of the text'] >> role=button");
    await seen(tab, "text=Too small: use 1 or more");
    await button("Review");
    await seen(tab, "text=/should be greater than or equal to 1/");
    expect((await problems.allInnerTexts()).length, "each problem once").to.equal(1);
    expect(await tab.locator(".object-note.failed").count()).to.equal(0);
    await tab.keyboard.press("End");
    await tab.keyboard.press("Backspace");
    await tab.keyboard.insertText("2");
    await gone(tab, "role=list[name='Problems of the text']");
    await button("Review");
    await button("Create");
    await seen(tab, ".confirmation:popover-open >> text=wheel created.");
  });

  it("say which path to use in place of the name of a workspace", async () => {
    await open("root:other");
    await button("Bind an export");
    await fill("Workspace of the export", "team");
    await fill("Name of the export", "gears");
    await seen(tab, "role=dialog >> text=/the name of a workspace, and not its path: use root:team/");
    await tab.keyboard.press("Escape");
    await button("Create workspace");
    await seen(tab, "role=dialog >> text=/The type decides which APIs/");
    await tab.keyboard.press("Escape");
  });

  it("list the types of a new workspace, the default first, each with what it brings", async () => {
    for (const [name, more] of [
      ["zeta", { initializer: true, extend: { with: [{ name: "universal", path: "root" }] } }],
      ["alpha", {}],
    ] as const) {
      const type = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "WorkspaceType", metadata: { name }, spec: more };
      writeFileSync(join(server.folder.path, "type.json"), JSON.stringify(type));
      await kubectl("apply", "-f", join(server.folder.path, "type.json"));
    }
    await open("root");
    await button("Create workspace");
    await seen(tab, "role=dialog >> role=radio[name=/^organization default here defined in root/][checked]");
    await seen(tab, "role=dialog >> role=radio[name=/^zeta/]");
    const names = await tab.locator("role=dialog >> .choice strong").allInnerTexts();
    expect(names).to.deep.equal(["organization", "alpha", "universal", "zeta"]);
    const about = "/^Extends universal[.].*It is ready when the initializer of the type has finished[.]$/";
    await seen(tab, `role=dialog >> .choice >> text=${about}`);
    await seen(tab, "role=dialog >> .choice >> text=/Binds .*tenancy.kcp.io/");
    await tab.locator("role=dialog >> role=radio[checked]").focus();
    await tab.keyboard.press("ArrowDown");
    expect(await tab.locator("role=dialog >> role=radio[checked]").getAttribute("value")).to.match(/^root:/);
    expect(await axeFaults(tab)).to.deep.equal([]);
    await tab.keyboard.press("Escape");
  });

  it("name each limit of a value that a text exceeds, and accept values within them", async () => {
    writeFileSync(join(server.folder.path, "dials.yaml"), DIALS);
    await kubectl("apply", "-f", join(server.folder.path, "dials.yaml"));
    await kubectl("wait", "crd", "dials.example.dev", "--for=condition=Established");
    await open("root/example.dev/v1/dials?view=create");
    const type = async (spec: string) => {
      await tab.locator(".cm-content").click();
      await tab.keyboard.press("Control+A");
      await tab.keyboard.press("Delete");
      const meta = "apiVersion: example.dev/v1\nkind: Dial\nmetadata: { name: one, namespace: default }\n";
      await tab.keyboard.insertText(`${meta}spec: ${spec}\n`);
    };
    await type(
      "{ most: 11, below: 5, above: 0, step: 7, name: a, short: abcdef, code: X1, color: red, list: [1, 2, 3] }",
    );
    for (const problem of PROBLEMS) await seen(tab, `role=list[name="Problems of the text"] >> text=${problem}`);
    expect(await tab.locator("role=list[name='Problems of the text'] >> role=button").count()).to.equal(
      PROBLEMS.length,
    );
    await type(
      "{ most: 10, below: 4, above: 1, step: 15, name: ab, short: abcde, code: x1, color: blue, list: [1, 2] }",
    );
    await gone(tab, "role=list[name='Problems of the text']");
    await button("Review");
    await button("Create");
    await seen(tab, ".confirmation:popover-open >> text=one created.");
  });

  it("find workspaces in the tree, and go to one by keys that come faster than the page is rendered", async () => {
    await open("root");
    await tab.locator('role=searchbox[name="Search workspaces"]').fill("tea");
    await seen(tab, "text=1 found in the open branches of the tree");
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.press("Enter");
    await seen(tab, 'role=heading[name="team"]');
    await tab.locator('role=searchbox[name="Search workspaces"]').fill("");
    await seen(tab, "role=treeitem[name=/^other/]");
    await tab.keyboard.press("ArrowDown");
    await tab.evaluate(`["Home", "ArrowDown", "Enter"].forEach((key) =>
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))`);
    await seen(tab, 'role=heading[name="other"]');
  });

  it("name workspaces by their paths in tables over all of them", async () => {
    await open(`${CONFIG_MAPS}?all=1`);
    await tab.locator('role=cell >> role=link[name="root:other"]').first().click();
    await seen(tab, 'role=heading[name="other"]');
    await open("root:team/apis.kcp.io/v1alpha2/apiexports/object/-/gears?view=kcp");
    await seen(tab, "text=1 object");
    const gear = { apiVersion: "example.dev/v1", kind: "Gear", metadata: { name: "cog" }, spec: { size: 1 } };
    writeFileSync(join(server.folder.path, "gear.json"), JSON.stringify(gear));
    const path = "/clusters/root:other/apis/example.dev/v1/namespaces/default/gears";
    await kubectl("--context=base", "create", "--raw", path, "-f", join(server.folder.path, "gear.json"));
    await seen(tab, "role=row >> role=cell >> text=default");
    await tab.locator('role=region[name="Objects through the view"] >> role=link[name="root:other"]').first().click();
    await seen(tab, 'role=heading[name="other"]');
  });

  it("show the resource of the address in a long list, and have no serious fault of accessibility", async () => {
    await open("root/tenancy.kcp.io/v1alpha1/workspacetypes");
    await seen(tab, "role=rowheader[name=universal]");
    // Browsers scroll by whole pixels.
    const isVisible = `(() => {
      const [list, item] = [".resource-list", ".resource-list [aria-current]"].map((one) => document.querySelector(one).getBoundingClientRect());
      return item.top >= list.top - 1 && item.bottom <= list.bottom + 1;
    })()`;
    expect(await tab.evaluate(isVisible)).to.equal(true);
    const found: string[] = [];
    for (const hash of [`${CONFIG_MAPS}?all=1`, "root/core/v1/secrets/object/default/door", "root:other"])
      for (const width of [1400, 390]) {
        await tab.setViewportSize({ width, height: 900 });
        await open(hash);
        await seen(tab, "role=heading");
        found.push(...(await axeFaults(tab)).map((fault) => `${hash} ${width} ${fault}`));
      }
    await tab.setViewportSize({ width: 1400, height: 900 });
    expect(found).to.deep.equal([]);
  });
});
