// Mounted clusters in the console: what is below them, what is left of them, and what users without rights see.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const USERS = 'admin-token,admin,admin,"system:kcp:admin"\nbob-token,bob,bob,\n';
const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });

const workspace = (name: string) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: {},
});
const binding = (name: string, of: string, path = "root") => ({
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name },
  spec: { reference: { export: { path, name: of } } },
});
/** Takes the name of the Mounts of the export, and serves nothing, so that a binding of the export stays half-made. */
const TAKEN = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "mounts.proxy.kcp.io", annotations: { "api-approved.kubernetes.io": "unapproved" } },
  spec: {
    group: "proxy.kcp.io",
    names: { plural: "mounts", singular: "mount", kind: "Mount" },
    scope: "Cluster",
    versions: [{ name: "v1", served: false, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
const SCHEMA = {
  apiVersion: "apis.kcp.io/v1alpha1",
  kind: "APIResourceSchema",
  metadata: { name: "v1.gears.example.dev" },
  spec: {
    group: "example.dev",
    names: { plural: "gears", singular: "gear", kind: "Gear", listKind: "GearList" },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { type: "object" } }],
  },
};
const EXPORT = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIExport",
  metadata: { name: "gears" },
  spec: { resources: [{ group: "example.dev", name: "gears", schema: SCHEMA.metadata.name, storage: { crd: {} } }] },
};

describe("mounted clusters in the console", function () {
  this.timeout(180_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let [server, remote]: Start[] = [];
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    const flags = ["--batteries-included=+mounts", "--mount-allow=127.0.0.1"];
    server = await Start.ready({ flags, files: { "tokens.csv": USERS } });
    remote = await Start.ready();
    await apply(server, "root", workspace("team"));
    await kubectl(server, "root", "wait", "workspace", "team", "--for=jsonpath={.status.phase}=Ready");
    await mount();
    ({ tab, faults } = await signedIn("admin-token"));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await remote?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  async function kubectl(at: Start | undefined, where: string, ...args: readonly string[]): Promise<string> {
    if (at === undefined) throw new Error("there is no server");
    const answer = await at.kubectl("--server", `${at.url}/clusters/${where}`, ...args);
    expect(answer, answer).to.match(/^0 /);
    return answer.slice(2);
  }
  async function apply(at: Start | undefined, where: string, ...items: readonly object[]): Promise<void> {
    const file = join(at?.folder.path ?? "", "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await kubectl(at, where, "apply", "-f", file);
  }
  /** Gives bob rights in `root:team`. */
  async function allow(name: string, rule: object): Promise<void> {
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name } };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }];
    await apply(
      server,
      "root:team",
      { ...rbac, kind: "ClusterRole", rules: [rule] },
      { ...rbac, kind: "ClusterRoleBinding", roleRef, subjects },
    );
  }
  /** Mounts the other server as `root:team:remote`. */
  async function mount(): Promise<void> {
    await apply(server, "root:team", binding("mounts", "proxy.kcp.io"));
    await kubectl(server, "root:team", "wait", "apibinding", "mounts", "--for=jsonpath={.status.phase}=Bound");
    const kubeconfig = `--from-file=kubeconfig=${remote?.path("admin.kubeconfig")}`;
    await kubectl(server, "root:team", "create", "secret", "generic", "remote", kubeconfig);
    const about = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount" };
    const ref = { apiVersion: "v1", kind: "Secret", namespace: "default", name: "remote" };
    await apply(
      server,
      "root:team",
      { ...about, metadata: { name: "remote" }, spec: { ref, identity: { type: "Fixed" } } },
      { ...workspace("remote"), spec: { mount: { ref: { ...about, name: "remote" } } } },
    );
    await kubectl(server, "root:team", "wait", "workspace", "remote", "--for=jsonpath={.status.phase}=Ready");
  }
  async function signedIn(token: string) {
    if (browser === undefined) throw new Error("there is no browser");
    const opened = await openTab(browser, `${server?.url}/console/`);
    await opened.tab.locator('role=textbox[name="Token or kubeconfig"]').fill(token);
    await opened.tab.locator('role=button[name="Sign in"]').click();
    await seen(opened.tab, "role=tree");
    return opened;
  }
  const open = (hash: string, at = tab): Promise<unknown> => at.goto(`${server?.url}/console/#/workspaces/${hash}`);
  const inDialog = (name: string, at = tab): Promise<void> =>
    at.locator(`role=dialog >> role=button[name="${name}"]`).first().click();

  it("show exports and bindings below a mount without links into this server, and no table over all workspaces", async () => {
    await apply(remote, "root", SCHEMA, EXPORT, binding("gears", "gears"));
    await kubectl(remote, "root", "wait", "apibinding", "gears", "--for=jsonpath={.status.phase}=Bound");
    const there = "root:team:remote/apis.kcp.io/v1alpha2";
    await open(`${there}/apiexports/object/-/gears?view=kcp`);
    await seen(tab, "role=tabpanel >> text=/of another server, below a mount/");
    await seen(tab, "role=tabpanel >> text=gears");
    await open(`${there}/apibindings/object/-/gears?view=kcp`);
    await seen(tab, "role=tabpanel >> text=Bound");
    expect(await tab.locator("role=tabpanel >> role=link[name=root]").count(), "links into this server").to.equal(0);
    // Its objects are of the other server, too, and open through the mount.
    await tab.locator("role=tabpanel >> role=link[name='gears.example.dev']").click();
    await seen(tab, "text=/No objects|No object matches|0 objects/");
    expect(tab.url()).to.include("root:team:remote/example.dev/v1/gears");
    expect(await tab.locator("role=checkbox[name='All workspaces']").count()).to.equal(0);
    await open("root:team/core/v1/configmaps");
    await seen(tab, "role=checkbox[name='All workspaces']");
  });

  it("lead from a Mount to its Secret, and show the URL of the Mount once", async () => {
    await open("root:team/proxy.kcp.io/v1alpha1/mounts/object/-/remote");
    await seen(tab, "role=term >> text='status.URL'");
    expect(await tab.locator("role=term >> text='status.url'").count()).to.equal(0);
    await tab.locator("role=tabpanel >> role=link[name='Secret default/remote']").click();
    await seen(tab, "role=heading[name=/remote/]");
    await seen(tab, "role=tabpanel >> role=button[name='Show kubeconfig']");
    expect(tab.url()).to.include("root:team/core/v1/secrets/object/default/remote");
    await open("root:team/tenancy.kcp.io/v1alpha1/workspaces/object/-/remote");
    await tab.locator("role=tabpanel >> role=link[name='Mount remote']").click();
    await seen(tab, "role=tabpanel >> role=link[name='Secret default/remote']");
  });

  it("remove a binding that is half-made when the user cancels", async () => {
    await apply(server, "root", workspace("taken"));
    await kubectl(server, "root", "wait", "workspace", "taken", "--for=jsonpath={.status.phase}=Ready");
    await apply(server, "root:taken", TAKEN);
    const bindings = ["get", "apibindings", "-o", "name"] as const;
    await open("root:taken");
    await tab.locator('role=button[name="Mount a cluster"]').click();
    await inDialog("Bind proxy.kcp.io");
    await seen(tab, "role=dialog >> text=/NamingConflicts/");
    expect(await kubectl(server, "root:taken", ...bindings)).to.include("apis.kcp.io/mounts");
    await inDialog("Cancel");
    await gone(tab, "role=dialog");
    await kubectl(server, "root:taken", "wait", "apibinding", "mounts", "--for=delete", "--timeout=20s");
    expect(await kubectl(server, "root:taken", ...bindings)).to.not.include("apis.kcp.io/mounts");
  });

  it("say why a new mount is not ready, take another target for it, and are removed again", async () => {
    const fill = (label: string, text: string): Promise<void> =>
      tab.locator(`role=dialog >> role=textbox[name="${label}"]`).fill(text);
    const begin = async (name: string, target: string): Promise<void> => {
      await open("root:team");
      await tab.locator('role=button[name="Mount a cluster"]').click();
      await fill("Name", name);
      await tab.locator(`role=dialog >> role=radio[name="${target}"]`).click();
    };
    await begin("far", "URL");
    await fill("URL", `${remote?.url}/clusters/root`);
    await inDialog("Mount");
    await seen(tab, "role=dialog >> role=status >> text=/Not ready Untrusted: /");
    expect(await tab.locator("text=/connects to (its|the) target/").count()).to.equal(0);
    expect(await axeFaults(tab)).to.deep.equal([]);
    await inDialog("Correct the target");
    expect(await tab.evaluate("document.querySelector('dialog input[placeholder]').value")).to.include(
      "/clusters/root",
    );
    await tab.locator('role=dialog >> role=radio[name="Kubeconfig"]').click();
    await tab
      .locator("role=dialog >> textarea")
      .last()
      .fill(remote?.text("admin.kubeconfig") ?? "");
    await inDialog("Replace the target");
    await seen(tab, "role=dialog >> text=far is mounted.");
    await inDialog("Close");
    const ready = await kubectl(server, "root:team", "get", "workspace", "far", "-o", "jsonpath={.status.conditions}");
    expect(ready).to.include("WorkspaceMountReady").and.not.include("annotation");
    await begin("second", "URL");
    await fill("URL", "https://127.0.0.1:1");
    await inDialog("Mount");
    await seen(tab, "role=dialog >> role=status >> text=/Not ready Unreachable: 127.0.0.1:1: /");
    await inDialog("Remove it again");
    await gone(tab, "role=dialog");
    for (const kind of ["workspace", "mount", "secret"])
      expect(await kubectl(server, "root:team", "get", kind, "second", "--ignore-not-found"), kind).to.equal("");
  });

  it("have no Secret after a change to a workspace of the server, and one again after a change back", async () => {
    const inField = (label: string) => tab.locator(`role=dialog >> role=textbox[name="${label}"]`);
    const choose = (target: string): Promise<void> =>
      tab.locator(`role=dialog >> role=radio[name="${target}"]`).click();
    const secret = (name: string): Promise<string> =>
      kubectl(server, "root:team", "get", "secret", name, "--ignore-not-found", "-o", "name");
    const about = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount" };
    const ref = { apiVersion: "v1", kind: "Secret", namespace: "default", name: "shared" };
    for (const name of ["alone", "shared"]) {
      await open("root:team");
      await tab.locator('role=button[name="Mount a cluster"]').click();
      await inField("Name").fill(name);
      await choose("URL");
      await inField("URL").fill("https://127.0.0.1:1");
      await inDialog("Mount");
      await seen(tab, "role=dialog >> role=status >> text=/Not ready Unreachable/");
      expect(await secret(name)).to.equal(`secret/${name}`);
      // Another Mount names the Secret as well.
      if (name === "shared") await apply(server, "root:team", { ...about, metadata: { name: "user" }, spec: { ref } });
      await inDialog("Correct the target");
      await choose("Workspace of this server");
      await tab.locator('role=dialog >> internal:label="Path of the workspace"s').first().fill("root:nowhere");
      await inDialog("Replace the target");
      await seen(tab, "role=dialog >> role=status >> text=/Not ready TargetNotFound/");
      expect(await secret(name), name).to.equal(name === "shared" ? "secret/shared" : "");
      await inDialog("Correct the target");
      await tab.locator('role=dialog >> internal:label="Path of the workspace"s').first().fill("root:never");
      await inDialog("Replace the target");
      await seen(tab, "role=dialog >> role=status >> text=/root:never/");
      await inDialog("Correct the target");
      await choose("URL");
      await inDialog("Replace the target");
      await seen(tab, "role=dialog >> role=status >> text=/Not ready Unreachable/");
      expect(await secret(name)).to.equal(`secret/${name}`);
      await inDialog("Remove it again");
      await gone(tab, "role=dialog");
      expect(await secret(name)).to.equal("");
    }
    await kubectl(server, "root:team", "delete", "mount", "user");
  });

  it("lead to another workspace of the server, without a Secret", async () => {
    await open("root:team");
    await tab.locator('role=button[name="Mount a cluster"]').click();
    await tab.locator('role=dialog >> internal:label="Name"s').first().fill("again");
    await tab.locator('role=dialog >> role=radio[name="Workspace of this server"]').click();
    await tab.locator('role=dialog >> internal:label="Path of the workspace"s').first().fill("root");
    await inDialog("Mount");
    await seen(tab, "role=dialog >> text=again is mounted.");
    await inDialog("Close");
    expect(await kubectl(server, "root:team", "get", "secret", "again", "--ignore-not-found")).to.equal("");
    await open("root:team:again/core/v1/configmaps");
    await seen(tab, 'role=rowheader[name="kube-root-ca.crt"]');
  });

  it("say near a button why it cannot be pressed, also to users of keyboards and screen readers", async () => {
    await allow("look", { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] });
    await allow("enter", { nonResourceURLs: ["/"], verbs: ["access"] });
    const { tab: bob } = await signedIn("bob-token");
    await open("root:team", bob);
    for (const [name, reason] of [
      ["Create workspace", "You may not create workspaces here."],
      ["Export an API", "You may not create apiexports.apis.kcp.io here."],
    ] as const) {
      const button = bob.locator(`role=button[name="${name}"]`).first();
      await seen(bob, `main >> text=${reason}`);
      await button.focus();
      expect(await bob.evaluate("document.activeElement.getAttribute('aria-disabled')"), name).to.equal("true");
      const described = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent";
      expect(await bob.evaluate(described)).to.equal(reason);
      await bob.keyboard.press("Enter");
      expect(await bob.locator("role=dialog").count(), name).to.equal(0);
    }
    await open("root:team/core/v1/configmaps", bob);
    await seen(bob, "main >> text=You may not create configmaps in the namespace default.");
    await open("root:team/core/v1/configmaps/object/default/kube-root-ca.crt", bob);
    await seen(bob, "main >> text=You may not delete this object.");
    for (const hash of ["root:team", "root:team/core/v1/configmaps"])
      for (const width of [1400, 390]) {
        await bob.setViewportSize({ width, height: 900 });
        await open(hash, bob);
        await seen(bob, "main >> text=/You may not create/");
        expect(await axeFaults(bob), `${hash} ${width}`).to.deep.equal([]);
      }
    await bob.close();
  });

  it("name the objects that are left of a mount when one cannot be deleted, and try again", async () => {
    await allow("unmount", { apiGroups: ["tenancy.kcp.io"], resources: ["workspaces"], verbs: ["delete"] });
    await allow("mounts", { apiGroups: ["proxy.kcp.io"], resources: ["mounts"], verbs: ["delete"] });
    const { tab: bob, faults: others } = await signedIn("bob-token");
    await open("root:team:remote", bob);
    await bob.locator('role=button[name="Unmount"]').click();
    await bob.locator("role=dialog >> role=checkbox").click();
    await bob.locator("role=dialog >> role=textbox").fill("remote");
    await inDialog("Unmount", bob);
    await seen(bob, "role=dialog >> role=alert >> text=/could not be deleted, and are left/");
    await seen(bob, "role=dialog >> role=listitem >> text=/Secret default.remote/");
    await seen(bob, "role=dialog >> role=listitem >> text=/cannot delete resource .secrets./");
    expect(await bob.locator("role=dialog >> role=listitem").count()).to.equal(1);
    expect(await axeFaults(bob)).to.deep.equal([]);
    expect(await kubectl(server, "root:team", "get", "secret", "remote", "-o", "name")).to.equal("secret/remote");
    await inDialog("Try again", bob);
    await seen(bob, "role=dialog >> role=listitem >> text=/Secret default.remote/");
    await allow("secrets", { apiGroups: [""], resources: ["secrets"], verbs: ["delete"] });
    await inDialog("Try again", bob);
    await seen(bob, ".confirmation:popover-open >> text=remote is being unmounted.");
    await gone(bob, "role=dialog");
    for (const kind of ["mount", "secret"])
      expect(await kubectl(server, "root:team", "get", kind, "remote", "--ignore-not-found")).to.equal("");
    others.expectNone();
    await bob.close();
  });
});
