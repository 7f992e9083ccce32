// A user of the issuer that a workspace's type names signs in to the console, in a real browser.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";
import { TestIssuer } from "../../_support/issuer.ts";
import { Start } from "../../cli/support/start.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const gone = (tab: ConsoleTab, selector: string): Promise<void> =>
  tab.locator(selector).first().waitFor({ state: "detached" });
const USER = "team:jane";
const TENANCY = "tenancy.kcp.io/v1alpha1";

describe("a user of one workspace in the console", function () {
  this.timeout(90_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let server: Start;
  let issuer: TestIssuer;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  async function apply(workspace: string, ...items: readonly object[]): Promise<void> {
    const file = join(server.folder.path, "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const answer = await server.kubectl("--server", `${server.url}/clusters/${workspace}`, "apply", "-f", file);
    expect(answer, answer).to.match(/^0 /);
  }

  before(async function () {
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    issuer = await TestIssuer.start();
    server = await Start.ready({ flags: ["--workspace-issuer-allow=127.0.0.1"] });
    const claimMappings = { username: { claim: "sub", prefix: "team:" } };
    const kind = "WorkspaceAuthenticationConfiguration";
    const spec = {
      extend: { with: [{ name: "universal", path: "root" }] },
      authenticationConfigurations: [{ name: "team" }],
    };
    await apply(
      "root",
      { apiVersion: TENANCY, kind, metadata: { name: "team" }, spec: { jwt: [issuer.config({ claimMappings })] } },
      { apiVersion: TENANCY, kind: "WorkspaceType", metadata: { name: "open-to-team" }, spec },
      {
        ...{ apiVersion: TENANCY, kind: "Workspace", metadata: { name: "shop" } },
        spec: { type: { name: "open-to-team", path: "root" } },
      },
    );
    await server.kubectl("wait", "workspace", "shop", "--for=jsonpath={.status.phase}=Ready");
    const binding = (name: string) => ({
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: `jane-${name}` } },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: USER }],
    });
    await apply("root:shop", ...["cluster-admin", "system:kcp:workspace:access"].map(binding));
    ({ tab, faults } = await openTab(browser, `${server.url}/console/`));
    await seen(tab, 'role=button[name="Sign in"]');
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await issuer?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  const fill = (field: string, text: string): Promise<void> => tab.locator(`role=textbox[name="${field}"]`).fill(text);
  const submit = (): Promise<void> => tab.locator('role=button[name="Sign in"]').click();

  it("signs in with the workspace, and learns what is missing without it", async () => {
    await fill("Token or kubeconfig", issuer.token());
    await submit();
    await seen(tab, "text=The server does not know this token");
    await fill("Workspace", "root");
    await submit();
    await seen(tab, "text=Neither the server nor the workspace root knows this token");
    await fill("Workspace", "root:shop");
    await submit();
    await seen(tab, "role=heading[name=/^root:shop$/]");
    expect(tab.url()).to.match(/#\/workspaces\/root:shop$/);
    expect(await tab.locator("role=treeitem").first().innerText()).to.include("root:shop");
    await seen(tab, "summary >> text=team:jane");
    expect(await axeFaults(tab)).to.deep.equal([]);
  });

  it("sees and changes the objects of the workspace, live", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root:shop/core/v1/configmaps`);
    await seen(tab, "role=row[name=/kube-root-ca.crt/]");
    await apply("root:shop", {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "menu", namespace: "default" } },
      data: { soup: "pea" },
    });
    await seen(tab, "role=row[name=/^menu/]");
  });

  it("goes on after requests elsewhere, which say that the session is for one workspace", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root/core/v1/configmaps`);
    await seen(tab, "text=You are signed in to the workspace root:shop only.");
    await tab.reload();
    await seen(tab, "text=You are signed in to the workspace root:shop only.");
    await tab.goto(`${server.url}/console/#/workspaces/root:shop/core/v1/configmaps`);
    await seen(tab, "role=row[name=/^menu/]");
  });

  it("takes the workspace from a kubeconfig, and from a link", async () => {
    const signOut = async (): Promise<void> => {
      await tab.locator("summary >> text=/team:jane/").click();
      await tab.locator('role=button[name="Sign out"]').click();
      await seen(tab, "text=You have signed out");
    };
    await signOut();
    expect(await tab.evaluate("document.querySelector('form input').value")).to.equal("root:shop");
    await fill("Workspace", "");
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "shop" },
      clusters: [{ name: "shop", cluster: { server: `${server.url}/clusters/root:shop` } }],
      contexts: [{ name: "shop", context: { cluster: "shop", user: "jane" } }],
      users: [{ name: "jane", user: { token: issuer.token() } }],
    };
    await fill("Token or kubeconfig", JSON.stringify(config));
    await submit();
    await seen(tab, "role=row[name=/^menu/]");
    await signOut();
    await fill("Token or kubeconfig", issuer.token());
    await submit();
    await seen(tab, "role=row[name=/^menu/]");
  });

  it("is signed out when the type no longer names the issuer", async () => {
    await apply("root", {
      ...{ apiVersion: TENANCY, kind: "WorkspaceAuthenticationConfiguration", metadata: { name: "team" } },
      spec: { jwt: [issuer.config({ issuer: { ...issuer.config().issuer, audiences: ["others"] } })] },
    });
    await tab.reload();
    await seen(tab, "text=Your session has ended");
    await gone(tab, "role=row");
  });
});
