// Remote clusters behind an agent that dials the hub, by the real kubectl. Hub, agents and clusters are separate processes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { until } from "../_support/until.ts";
import { Front } from "../cli/support/front.ts";
import { Start, type StartOptions } from "../cli/support/start.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { AgentProgram, clusterAt } from "./support/agent.ts";
import { building } from "./support/build.ts";
import { kubectl, startKubectl } from "./support/kubectl.ts";
import { MOUNTING, Mounting } from "./support/mounting.ts";
import { expectStreams, PROTOCOLS } from "./support/streams.ts";
import { Target } from "./support/target.ts";
import { VirtualWorkspaces } from "./support/virtual-workspaces.ts";

const own = (): string => kubectls()[0] ?? "";
const FLAGS = [
  ...MOUNTING.filter((flag) => !flag.startsWith("--batteries")),
  "--batteries-included=+mounts,+cluster-proxy",
];

/** Starts a server with ClusterProxies in `root`. */
async function startHub(options: StartOptions = {}): Promise<Mounting> {
  return bound(await Mounting.at(await Start.ready({ flags: FLAGS, ...options })));
}

async function bound(hub: Mounting): Promise<Mounting> {
  const reference = { export: { path: "root", name: "cluster.proxy.kcp.io" } };
  const binding = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "remote" } };
  await hub.apply({ ...binding, spec: { reference } });
  await hub.admin("wait", "apibinding/remote", "--for=jsonpath={.status.phase}=Bound");
  return hub;
}

/** Creates a ClusterProxy. @returns the file that enrolls an agent */
async function enrol(
  hub: Mounting,
  name: string,
  { kubeconfig, context } = { kubeconfig: hub.server.path("admin.kubeconfig"), context: "root" },
): Promise<string> {
  const { server } = hub;
  await hub.apply({ apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name } });
  const args = ["agent", "token", name, "--kubeconfig", kubeconfig, "--context", context];
  await using program = new VirtualWorkspaces(args, { HOME: server.folder.path });
  const { code } = await program.ended;
  expect(code, program.stderr).to.equal(0);
  return program.lines.join("\n");
}

describe("a remote cluster, by kubectl", function () {
  this.timeout(180_000);
  const running = new AsyncDisposableStack();
  let hub: Mounting;
  let pods: Target;
  let podsAgent: AgentProgram;

  before(async function () {
    needsKubectl.call(this);
    await building("target").call(this);
    hub = running.use(await startHub());
    pods = running.use(await Target.start());
    podsAgent = running.use(new AgentProgram({ bootstrap: await enrol(hub, "pods"), cluster: clusterAt(pods.url) }));
    await podsAgent.said(/connected/);
    await ready("pods");
    await workspace("pods");
    await hub.mount("link", { type: "Workspace", path: "root:pods" });
  });
  after(() => running.disposeAsync());

  const says = (name: string, ...args: readonly string[]) => kubectl(own(), hub.in(name), args);

  const ready = (name: string, phase = "Ready") =>
    hub.admin("wait", `clusterproxy/${name}`, `--for=jsonpath={.status.phase}=${phase}`, "--timeout=40s");

  /** Creates a workspace that is mounted on the ClusterProxy of the same name. */
  async function workspace(name: string): Promise<void> {
    const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", name };
    await hub.apply({
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name },
      spec: { mount: { ref } },
    });
    await hub.turned(name, "Ready");
  }

  for (const [protocol, env] of Object.entries(PROTOCOLS))
    for (const name of ["pods", "link"])
      it(`forwards exec, attach and port-forward through ${name} over ${protocol}, as the caller`, async () => {
        const before = pods.upgrades.length;
        await expectStreams(own(), hub.in(name, env));
        const came = pods.upgrades.slice(before);
        expect(came).to.have.length(4);
        for (const { user, groups, upgrade } of came) {
          expect([user, groups]).to.deep.equal(["kcp-admin", ["system:authenticated"]]);
          expect(upgrade).to.match(new RegExp(protocol, "i"));
        }
      });

  it("follows logs, which end when the agent is killed; it then reports the reason until another agent connects", async () => {
    pods.log("one");
    await using follow = startKubectl(own(), hub.in("pods"), ["logs", "-f", "running"]);
    await follow.until("a line", () => follow.lines.includes("one"));
    const kept = readFileSync(join(podsAgent.folder.path, "hub.kubeconfig"), "utf8");
    podsAgent.signal("SIGKILL");
    await follow.ended;
    await ready("pods", "Connecting");
    const url = await hub.admin("get", "clusterproxy", "pods", "-o", "jsonpath={.status.URL}");
    const refused = await hub.server.get(`${new URL(url).pathname}/api/v1/pods`, {
      token: hub.server.token("kcp-admin"),
    });
    expect(refused.code).to.equal(503);
    expect(refused.body).to.match(/the ClusterProxy \\"pods\\" cannot be reached since .*: the agent is not connected/);
    running.use(new AgentProgram({ hub: kept, cluster: clusterAt(pods.url) }));
    await ready("pods");
    expect(await says("pods", "get", "pod", "running", "-o", "name")).to.include({ code: 0, stdout: "pod/running" });
    expect(await hub.admin("get", "clusterproxies")).to.match(
      /^NAME +PHASE +AGENT +HEARTBEAT +AGE\npods +Ready +\d+\.\d+\.\d+ /,
    );
  });

  it("lists, watches and applies on another workspace server, by its rules and within its agent's limits", async () => {
    const remote = running.use(await Start.ready());
    const made = await remote.kubectl(
      "--context",
      "root",
      "create",
      "clusterrolebinding",
      "them",
      "--clusterrole=cluster-admin",
      "--user=kcp-admin",
    );
    expect(made).to.match(/^0 /);
    const allow = `rules:
- {verbs: ["*"], apiGroups: ["*"], resources: ["*"]}
- {verbs: ["get"], nonResourceURLs: ["*"]}
`;
    const noSecrets = allow.replace('resources: ["*"]', 'resources: ["configmaps", "namespaces"]');
    const kubeconfig = remote.text("admin.kubeconfig").replace(/^current-context: .*$/m, "current-context: root");
    const agent = running.use(
      new AgentProgram({ bootstrap: await enrol(hub, "far"), cluster: kubeconfig, allow: noSecrets }),
    );
    await agent.said(/connected/);
    await ready("far");
    await workspace("far");
    await using watch = startKubectl(own(), hub.in("far"), ["get", "configmaps", "-w", "-o", "name"]);
    const file = join(hub.server.folder.path, "map.json");
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "one", namespace: "default" },
        data: { a: "b" },
      }),
    );
    expect(await says("far", "apply", "--server-side", "-f", file)).to.include({
      code: 0,
      stdout: "configmap/one serverside-applied",
    });
    await watch.until("the object", () => watch.lines.includes("configmap/one"));
    expect((await says("far", "get", "secrets")).stderr).to.match(/the rules of the agent do not allow the request/);
    expect(await remote.kubectl("--context", "root", "get", "configmap", "one", "-o", "jsonpath={.data.a}")).to.equal(
      "0 b",
    );
    expect(await remote.kubectl("--context", "root", "delete", "clusterrolebinding", "them")).to.match(/^0 /);
    expect((await says("far", "get", "configmaps")).stderr).to.match(/User "kcp-admin" cannot list/);
  });

  it("recovers when its hub restarts under load, gracefully or killed, while its agent continues", async () => {
    const [folder, log] = [
      running.use(tree({ "tokens.csv": 'loads,loads,1,"system:masters"\n' })),
      { ok: 0, codes: new Set<number>() },
    ];
    const flags = [...FLAGS, `--token-auth-file=${join(folder.path, "tokens.csv")}`];
    const first = await startHub({ in: folder.path, flags });
    const { port, origin } = new URL(first.server.url);
    await using agent = new AgentProgram({ bootstrap: await enrol(first, "pods"), cluster: clusterAt(pods.url) });
    await agent.said(/connected/);
    const [token, ca] = ["loads", first.server.text("apiserver.crt")];
    const url = await first.admin("get", "clusterproxy", "pods", "-o", "jsonpath={.status.URL}");
    const over = new AbortController();
    const asked = async (): Promise<void> => {
      // No server answers while the hub is down.
      const answer = await first.server
        .get(`${new URL(url).pathname}/api/v1/namespaces/default/pods`, { token, ca, at: origin })
        .catch(() => undefined);
      if (answer !== undefined) log.codes.add(answer.code);
      if (answer?.code === 200) log.ok += 1;
    };
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!over.signal.aborted) await asked();
      }),
    );
    let server = first.server;
    for (const [times, signal] of (["SIGTERM", "SIGKILL"] as const).entries()) {
      const before = log.ok;
      await until(() => log.ok > before + 20);
      await server.end(signal);
      const at = ["--bind-address=127.0.0.1", `--secure-port=${port}`];
      server = running.use(await Start.ready({ in: folder.path, at, flags }));
      await agent.said(/info +connected/, times + 2);
      const back = log.ok;
      await until(() => log.ok > back + 20);
    }
    over.abort();
    await load;
    expect([200, 503]).to.include.members([...log.codes]);
    expect(agent.running).to.equal(true);
  });
});

describe("a remote cluster through a front proxy, by kubectl", function () {
  this.timeout(120_000);
  const running = new AsyncDisposableStack();
  before(async function () {
    needsKubectl.call(this);
    await building("target").call(this);
  });
  after(() => running.disposeAsync());

  it("accepts the agent, and runs commands", async () => {
    const users = 'admin-token,admin,1,"system:kcp:admin"\n';
    const front = running.use(await Front.ready({ flags: FLAGS, users, services: true }));
    const hub = await bound(await Mounting.at(front.server));
    const pods = running.use(await Target.start());
    const home = front.in("/clusters/root", "admin-token");
    const bootstrap = await enrol(hub, "pods", { kubeconfig: home.kubeconfig, context: "front" });
    expect(bootstrap).to.include(`"server": "${front.url}/services/clusterproxy-agents/root/pods"`);
    const agent = running.use(new AgentProgram({ bootstrap, cluster: clusterAt(pods.url) }));
    await agent.said(/connected/);
    await hub.admin("wait", "clusterproxy/pods", "--for=condition=Ready", "--timeout=40s");
    await expectStreams(own(), front.in("/services/clusterproxy/root/pods", "admin-token"));
    expect(pods.upgrades.map(({ user }) => user)).to.deep.equal(["admin", "admin", "admin", "admin"]);
    expect(agent.stderr).not.to.match(/WARN|warn/);
  });
});
