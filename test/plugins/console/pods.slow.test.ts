// Logs and terminals of pods in the console, behind a mount and through a tunnel of a cluster proxy.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { ensureInstalled, localNode, root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { building } from "../../go/support/build.ts";
import { Program } from "../../go/support/program.ts";
import { axeFaults, type ConsoleTab, openTab, startBrowser } from "./support/console-tab.ts";
import { PodCluster } from "./support/pod-cluster.ts";

const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();
const BATTERIES = ["--batteries-included=+mounts,+cluster-proxy", "--mount-allow=127.0.0.1"];

const binding = (name: string, of: string) => ({
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name },
  spec: { reference: { export: { path: "root", name: of } } },
});
const workspace = (name: string, kind: string) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: { mount: { ref: { apiVersion: "proxy.kcp.io/v1alpha1", kind, name } } },
});
const about = (kind: string) => ({ apiVersion: "proxy.kcp.io/v1alpha1", kind });

describe("pods in the console", function () {
  this.timeout(90_000);
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let cluster: PodCluster;
  let server: Start;
  let agent: Program | undefined;
  let tab: ConsoleTab;
  let faults: { expectNone(): void };

  before(async function () {
    await building("target").call(this);
    await ensureInstalled(join(root, "tools/docs"));
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
    browser = await startBrowser();
    if (browser === undefined) return this.skip();
    cluster = await PodCluster.start();
    server = await Start.ready({ flags: BATTERIES });
    await mount();
    const link = server.lines.find((line) => line.startsWith("Console, "))?.replace(/^.*: (?=https)/, "") ?? "";
    ({ tab, faults } = await openTab(browser, link));
    await seen(tab, "role=treeitem[name=/^root/]");
  });
  after(async () => {
    await browser?.close();
    await agent?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });
  afterEach(() => faults?.expectNone());

  async function kubectl(...args: readonly string[]): Promise<void> {
    expect(await server.kubectl(...args)).to.match(/^0 /);
  }
  async function apply(...objects: readonly object[]): Promise<void> {
    const file = join(server.folder.path, "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await kubectl("apply", "-f", file);
  }

  /** Mounts the cluster twice: `near` directly, and `far` through the tunnel of an agent. */
  async function mount(): Promise<void> {
    const bound = ["proxy.kcp.io", "cluster.proxy.kcp.io"];
    await apply(...bound.map((name) => binding(name, name)));
    await kubectl("wait", "apibinding", ...bound, "--for=jsonpath={.status.phase}=Bound");
    const kubeconfig = join(server.folder.path, "near.kubeconfig");
    writeFileSync(kubeconfig, cluster.kubeconfig);
    await kubectl("create", "secret", "generic", "near", `--from-file=kubeconfig=${kubeconfig}`);
    const ref = { apiVersion: "v1", kind: "Secret", namespace: "default", name: "near" };
    await apply(
      { ...about("Mount"), metadata: { name: "near" }, spec: { ref } },
      { ...about("ClusterProxy"), metadata: { name: "far" } },
      workspace("near", "Mount"),
      workspace("far", "ClusterProxy"),
    );
    const bin = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];
    const { home, kubeconfig: admin } = server.home;
    const token = new Program(localNode, [...bin, "agent", "token", "far"], { HOME: home, KUBECONFIG: admin });
    expect((await token.ended).code, token.stderr).to.equal(0);
    const bootstrap = join(server.folder.path, "bootstrap.kubeconfig");
    writeFileSync(bootstrap, token.lines.join("\n"));
    const files = [`--bootstrap-kubeconfig=${bootstrap}`, `--hub-kubeconfig=${join(server.folder.path, "hub")}`];
    agent = new Program(localNode, [...bin, "agent", ...files, `--kubeconfig=${kubeconfig}`], { HOME: home });
    for (const name of ["near", "far"])
      await kubectl("wait", "workspace", name, "--for=jsonpath={.status.phase}=Ready", "--timeout=20s");
  }

  /** Opens a part of the page of the pod, as it is at first. */
  async function open(where: string, view: string): Promise<void> {
    await tab.goto("about:blank");
    await tab.goto(`${server.url}/console/#/workspaces/root:${where}/core/v1/pods/object/default/running?view=${view}`);
  }
  const line = (text: string): Promise<void> => seen(tab, `role=log >> text=${text}`);
  const terminalHas = (text: string): Promise<void> => seen(tab, `.xterm-accessibility >> text=${text}`);
  async function type(text: string): Promise<void> {
    await tab.keyboard.type(text);
    await tab.keyboard.press("Enter");
  }

  for (const where of ["near", "far"])
    describe(where === "near" ? "behind a mount" : "through the tunnel of a cluster proxy", () => {
      it("shows a log as it is written, and reads on where it was interrupted", async () => {
        const { main } = cluster.logs;
        main.add(`${where} one`);
        await open(where, "logs");
        await line(`${where} one`);
        await seen(tab, "text=Following");
        main.add(`${where} two <img src=x onerror="document.title=1">`);
        await line(`${where} two <img`);
        main.interrupt();
        main.add(`${where} three`);
        await line(`${where} three`);
        const text = await tab.locator("role=log").innerText();
        expect(text.split(`${where} one`).length, "each line once").to.equal(2);
        expect(await tab.locator("role=log >> img").count()).to.equal(0);
        expect(main.asked.at(-1)?.has("sinceTime")).to.equal(true);
      });

      it("runs a shell in a terminal, with the size of the page, until it exits", async () => {
        await open(where, "terminal");
        await tab.locator('role=button[name="Connect"]').click();
        await seen(tab, "text=Connected to main.");
        await terminalHas("$");
        await type("say hello");
        await terminalHas("/^hello/");
        await type("size");
        await terminalHas("/^\\d\\d+x\\d\\d+/");
        await type("exit 7");
        await seen(tab, "role=status >> text=The command has ended: exit code 7.");
        const { protocols, user } = cluster.target.upgrades.at(-1) ?? {};
        expect([protocols?.[0], user]).to.deep.equal(["v5.channel.k8s.io", "kcp-admin"]);
      });
    });

  it("shows the log of another container, of the previous one, and what the server says about one that is not there", async () => {
    cluster.logs["side previous"].add("before the restart");
    cluster.logs.side.isLate = true;
    await open("near", "logs");
    await tab.locator("role=combobox[name=Container]").selectOption("side");
    await seen(tab, "text=Nothing has been logged yet.");
    cluster.logs.side.isLate = false;
    await tab.locator('role=checkbox[name="Previous container"]').click();
    await line("before the restart");
    await seen(tab, "text=The log is complete: the container is a previous one.");
    await tab.locator("role=combobox[name=Container]").selectOption("main");
    await seen(tab, 'text=/previous terminated container "main previous" not found/');
  });

  it("keeps the last lines of a long log, and finds lines in it", async () => {
    const { side } = cluster.logs;
    await open("near", "logs");
    await tab.locator("role=combobox[name=Container]").selectOption("side");
    await seen(tab, "text=Following");
    for (let at = 0; at < 10_500; at += 1) side.add(`row ${at}`);
    await line("row 10499");
    await seen(tab, "text=/500 earlier lines are gone/");
    await tab.locator('role=searchbox[name="Search the log"]').fill("ROW 1049");
    await seen(tab, "role=status >> text=11 lines");
    await tab.locator("role=checkbox[name=Timestamps]").click();
    await seen(tab, "role=log >> text=/^2\\d{3}-.*Z row 1049/");
    await tab.locator('role=checkbox[name="Wrap lines"]').click();
  });

  it("copies and saves the lines that are shown, with their times if these are shown", async () => {
    const { main } = cluster.logs;
    await open("near", "logs");
    for (const text of ["keep é one", "drop it", "keep é two"]) main.add(text);
    await line("keep é two");
    await tab.locator('role=searchbox[name="Search the log"]').fill("keep é");
    await seen(tab, "role=status >> text=2 lines");
    await tab.locator('role=button[name="Copy the lines"]').click();
    await seen(tab, "role=button[name=Copied]");
    expect(await tab.evaluate("navigator.clipboard.readText()")).to.equal("keep é one\nkeep é two");
    await tab.locator("role=checkbox[name=Timestamps]").click();
    const [saved] = await Promise.all([
      tab.waitForEvent("download"),
      tab.locator('role=button[name="Download the lines"]').click(),
    ]);
    expect(saved.suggestedFilename()).to.equal("running-main.log");
    const text = readFileSync(await saved.path(), "utf8");
    expect(text).to.match(/^2\d{3}-\S+Z keep é one\n2\d{3}-\S+Z keep é two\n$/);
  });

  it("says in the terminal's place why a user may not have one, before and after an attempt", async () => {
    await tab.goto(`${server.url}/console/#/workspaces/root:near/core/v1/pods/object/default/closed?view=terminal`);
    await seen(tab, "role=tabpanel >> role=status >> text=/You may not create pods.exec here.*closed for the night/");
    await tab.locator('role=button[name="Connect"]').click();
    await seen(tab, "role=tabpanel >> role=alert >> text=/closed for the night/");
    expect(await axeFaults(tab)).to.deep.equal([]);
  });

  it("says that a container has ended, and follows the next one", async () => {
    await open("near", "logs");
    await seen(tab, "text=Following");
    cluster.setState("terminated");
    await seen(tab, "text=The log has ended: the container does not run.");
    cluster.setState("running");
    await tab.locator('role=button[name="Read on"]').click();
    await seen(tab, "text=Following");
  });

  it("runs a typed command without a terminal, and shows errors of the server", async () => {
    await open("near", "terminal");
    await tab.locator("role=combobox[name=Command]").selectOption("");
    await tab.locator("role=checkbox[name=/with input/]").click();
    await tab.locator('role=textbox[name="Command line"]').fill('say "two words" oops');
    await tab.locator('role=button[name="Connect"]').click();
    await terminalHas("two words");
    await terminalHas("oops");
    await seen(tab, "role=status >> text=The command has ended: exit code 0.");
    await tab.locator("role=combobox[name=Command]").selectOption("bash");
    await tab.locator('role=button[name="Connect"]').click();
    await seen(tab, "role=alert >> text=/bash: no such command/");
  });

  it("ends a session with the button, and when the user leaves", async () => {
    await open("near", "terminal");
    for (const leave of [
      () => tab.locator('role=button[name="End the session"]').click(),
      () => open("near", "yaml"),
    ]) {
      await tab.locator('role=button[name="Connect"]').click();
      await seen(tab, "text=Connected to main.");
      const ended = cluster.target.events.filter(({ event }) => event === "ran").length;
      await leave();
      await cluster.target.until("the end of the shell", () => {
        return cluster.target.events.filter(({ event }) => event === "ran").length > ended;
      });
    }
  });

  it("has the command that forwards a port", async () => {
    await open("far", "ports");
    const command = `--server=${server.url}/clusters/root:far --namespace=default port-forward pod/running 8080:7`;
    await seen(tab, `text=kubectl ${command}`);
  });

  it("have a cluster proxy, whose page shows its agent, and a workspace in the tree that is a tunnel", async () => {
    await seen(tab, "role=treeitem[name=/^far.*tunnel/]");
    await tab.goto(
      `${server.url}/console/#/workspaces/root/proxy.kcp.io/v1alpha1/clusterproxies/object/-/far?view=panel-cluster-proxy`,
    );
    await seen(tab, "text=Connected");
    await seen(tab, "text=Last sign of life");
  });

  it("has no serious fault of accessibility, light and dark, wide and narrow", async () => {
    const found: string[] = [];
    for (const view of ["logs", "terminal", "ports"])
      for (const [width, colorScheme] of [
        [1400, "light"],
        [390, "dark"],
      ] as const) {
        await tab.emulateMedia({ colorScheme });
        await tab.setViewportSize({ width, height: 900 });
        await open("near", view);
        await seen(tab, `role=tab[selected]`);
        if (view === "terminal") {
          await tab.locator('role=button[name="Connect"]').click();
          await terminalHas("$");
          await tab.keyboard.press("Shift+Tab");
          const focused = await tab.evaluate("document.activeElement.closest('.terminal-host')");
          expect(focused, "Shift+Tab leaves the terminal").to.equal(null);
        }
        found.push(...(await axeFaults(tab)).map((fault) => `${view} ${width} ${colorScheme} ${fault}`));
      }
    expect(found).to.deep.equal([]);
  });
});
