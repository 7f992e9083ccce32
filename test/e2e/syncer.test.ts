// examples/over-workspaces/syncer.ts: objects that agents see, and their permitted and rejected writes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { cli } from "../cli/support/dev.ts";
import { Start } from "../cli/support/start.ts";
import { kubectl, startKubectl } from "../go/support/kubectl.ts";
import { Program } from "../go/support/program.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

const SYNCER = join(root, "examples/over-workspaces/syncer.ts");
const USERS = ["east", "west", "reader", "mallory"];
const TOKENS = USERS.map((name, at) => `${name}-token,${name},${at}`).join("\n");
const LABEL = "example.dev/agent";
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "workloads" },
  spec: { reference: { export: { path: "root", name: "workloads" } } },
};
/** Returns a role for agents: their own content, with these verbs only. */
const roleOf = (agent: string, verbs: readonly string[]) => ({
  rules: [{ apiGroups: ["example.dev"], resources: ["agents/content"], resourceNames: [agent], verbs }],
});

describe("examples/over-workspaces/syncer.ts", function () {
  this.timeout(120_000);
  let server: Start;
  const clusters: string[] = [];

  before(async function () {
    needsKubectl.call(this);
    server = await Start.ready({ files: { "tokens.csv": `${TOKENS}\n` }, flags: ["--view", SYNCER] });
    const { stdout } = await cli("manifests", SYNCER, "-o=json");
    await apply("root", JSON.parse(stdout));
    for (const name of ["one", "two"]) {
      await apply("root", { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } });
      await admin("root", "wait", `workspace/${name}`, "--for=jsonpath={.status.phase}=Ready");
      await apply(`root:${name}`, BINDING);
      await admin(`root:${name}`, "wait", "apibinding/workloads", "--for=jsonpath={.status.phase}=Bound");
      clusters.push(await admin("root", "get", "workspace", name, "-o", "jsonpath={.spec.cluster}"));
    }
    const all = ["get", "list", "watch", "update", "patch", "create", "delete", "deletecollection"];
    for (const [user, agent, verbs] of [
      ["east", "east", all],
      ["west", "west", all],
      ["reader", "east", ["get", "list", "watch"]],
    ] as const) {
      const about = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: `agent-${user}` } };
      await apply("root", { ...about, kind: "ClusterRole", ...roleOf(agent, verbs) });
      await admin(
        "root",
        "create",
        "clusterrolebinding",
        `agent-${user}`,
        `--clusterrole=agent-${user}`,
        `--user=${user}`,
      );
    }
    for (const name of USERS) writeFileSync(kubeconfigOf(name), JSON.stringify(config(name)));
  });
  after(() => server?.[Symbol.asyncDispose]());

  const kubeconfigOf = (user: string): string => join(server.folder.path, `${user}.kubeconfig`);
  const config = (user: string): object => ({
    clusters: [{ name: "it", cluster: { server: server.url, "certificate-authority": server.path("apiserver.crt") } }],
    users: [{ name: user, user: { token: `${user}-token` } }],
    contexts: [{ name: user, context: { cluster: "it", user } }],
    "current-context": user,
  });

  async function admin(workspace: string, ...args: readonly string[]): Promise<string> {
    const said = await server.kubectl("--server", `${server.url}/clusters/${workspace}`, ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  function apply(workspace: string, object: object): Promise<string> {
    const file = join(server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    return admin(workspace, "apply", "-f", file);
  }

  /** Creates a workload for an agent in `root:one` or `root:two`. */
  function workload(workspace: string, name: string, labels: object): Promise<string> {
    const metadata = { name, labels };
    const about = { apiVersion: "example.dev/v1", kind: "Workload", metadata, spec: { image: "nginx" } };
    return apply(`root:${workspace}`, about);
  }

  const urlOf = (agent: string, cluster: string): string =>
    `${server.url}/services/syncer/${agent}/clusters/${cluster}`;

  /** Returns the output of a user's kubectl in the view of an agent. */
  async function asked(user: string, at: string, ...args: readonly string[]): Promise<string> {
    const home = { home: server.folder.path, kubeconfig: kubeconfigOf(user) };
    const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", home, ["--server", at, ...args]);
    return code === 0 ? stdout : stderr;
  }

  const NAMES = ["get", "workloads", "-A", "-o", "jsonpath={.items[*].metadata.name}"];

  it("shows an agent the objects labeled for it, in all workspaces and in one, and none of another agent", async () => {
    const [one = "", two = ""] = clusters;
    await workload("one", "a", { [LABEL]: "east" });
    await workload("two", "b", { [LABEL]: "east" });
    await workload("two", "c", { [LABEL]: "west" });
    await workload("two", "nobodys", {});
    expect((await asked("east", urlOf("east", "*"), ...NAMES)).split(" ").sort()).to.deep.equal(["a", "b"]);
    expect(await asked("east", urlOf("east", one), ...NAMES)).to.equal("a");
    expect(await asked("east", urlOf("east", two), ...NAMES)).to.equal("b");
    expect(await asked("west", urlOf("west", "*"), ...NAMES)).to.equal("c");
    for (const name of ["c", "nobodys", "none"])
      expect(await asked("east", urlOf("east", two), "get", "workload", name)).to.match(/\(NotFound\)/);
    expect(await asked("east", urlOf("east", "*"), ...NAMES, "-l", `${LABEL}=west`)).to.equal("");
  });

  it("adds an object to a watch when it gets the label, and removes it when it loses the label", async () => {
    await workload("two", "moving", { [LABEL]: "west" });
    const args = [
      "get",
      "workloads",
      "-A",
      "--watch",
      "--output-watch-events",
      "--no-headers",
      "-o",
      "custom-columns=:type,:object.metadata.name",
    ];
    const home = { home: server.folder.path, kubeconfig: kubeconfigOf("east") };
    await using watch = startKubectl(kubectls()[0] ?? "", home, ["--server", urlOf("east", "*"), ...args]);
    const told = (line: RegExp) => watch.until(String(line), () => watch.lines.some((one) => line.test(one)));
    await told(/ADDED +a$/);
    await workload("two", "moving", { [LABEL]: "east" });
    await told(/ADDED +moving$/);
    await workload("two", "moving", { [LABEL]: "west" });
    await told(/DELETED +moving$/);
  });

  it("lets an agent write the status, which changes nothing else", async () => {
    const [one = ""] = clusters;
    const patch = ["patch", "workload", "a", "--subresource=status", "--type=merge", "-p"];
    const everything = {
      status: { phase: "Running" },
      spec: { image: "evil" },
      metadata: { labels: { [LABEL]: "west" } },
    };
    expect(await asked("east", urlOf("east", one), ...patch, JSON.stringify(everything))).to.match(/patched/);
    const shown = "jsonpath={.spec.image} {.status.phase} {.metadata.labels.example\\.dev/agent}";
    expect(await admin("root:one", "get", "workload", "a", "-o", shown)).to.equal("nginx Running east");
  });

  it("lets an agent write nothing but the status", async () => {
    const [one = ""] = clusters;
    const merge = ["patch", "workload", "a", "--type=merge", "-p", '{"spec":{"image":"evil"}}'];
    for (const args of [
      merge,
      ["delete", "workload", "a"],
      ["delete", "workloads", "--all"],
      ["label", "workload", "a", "x=y"],
    ])
      expect(await asked("east", urlOf("east", one), ...args), args.join(" ")).to.match(/MethodNotAllowed|not allowed/);
    const file = join(server.folder.path, "new.json");
    const made = { apiVersion: "example.dev/v1", kind: "Workload", metadata: { name: "new" }, spec: { image: "x" } };
    writeFileSync(file, JSON.stringify(made));
    expect(await asked("east", urlOf("east", one), "create", "-f", file)).to.match(/MethodNotAllowed|not allowed/);
    expect(await admin("root:one", "get", "workload", "a", "-o", "jsonpath={.spec.image}")).to.equal("nginx");
  });

  it("lets no agent write the status of other objects", async () => {
    const [, two = ""] = clusters;
    const patch = ["--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Stolen"}}'];
    for (const name of ["c", "nobodys"])
      expect(await asked("east", urlOf("east", two), "patch", "workload", name, ...patch)).to.match(/\(NotFound\)/);
    expect(await admin("root:two", "get", "workloads", "-o", "jsonpath={..status}")).to.not.include("Stolen");
  });

  it("accepts only authorized users as agents, with no further rights", async () => {
    const [one = ""] = clusters;
    for (const [user, agent] of [
      ["west", "east"],
      ["mallory", "east"],
      ["mallory", "mallory"],
      ["reader", "west"],
    ] as const)
      for (const cluster of ["*", one])
        expect(await asked(user, urlOf(agent, cluster), ...NAMES), `${user} as ${agent}`).to.match(/\(Forbidden\)/);
    expect(await asked("reader", urlOf("east", one), ...NAMES)).to.equal("a");
    const patch = ["patch", "workload", "a", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"x"}}'];
    expect(await asked("reader", urlOf("east", one), ...patch)).to.match(/\(Forbidden\)/);
    expect(await asked("east", `${server.url}/clusters/${one}`, ...NAMES)).to.match(/\(Forbidden\)/);
  });

  it("runs as an agent that reports the events it receives", async () => {
    const [, two = ""] = clusters;
    const args = ["--conditions=@virtual-workspaces/source", SYNCER, `${server.url}/services/syncer/east`];
    await using agent = new Program(localNode, args, { KUBECONFIG: kubeconfigOf("east") });
    await agent.until("a runs", () => agent.lines.includes("a runs nginx"), 20_000);
    await admin("root:two", "wait", "workload/b", "--for=jsonpath={.status.phase}=Running");
    await workload("two", "b", { [LABEL]: "west" });
    await agent.until("b stops", () => agent.lines.includes("b stops"));
    expect(await asked("east", urlOf("east", two), "get", "workload", "b")).to.match(/\(NotFound\)/);
    agent.signal("SIGTERM");
    expect((await agent.ended).code, agent.stderr).to.equal(0);
  });
});
