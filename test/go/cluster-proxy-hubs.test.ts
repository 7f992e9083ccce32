// Several hubs: processes over one etcd, an agent that dials them, and kubectl at either. One process is killed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { until } from "../_support/until.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import type { Admin } from "../workspace-server/faults/support/admin.ts";
import * as make from "../workspace-server/faults/support/tree.ts";
import { AgentProgram, clusterAt } from "./support/agent.ts";
import { building } from "./support/build.ts";
import { etcdThere } from "./support/etcd.ts";
import { type KubectlHome, kubectl } from "./support/kubectl.ts";
import { expectStreams, PROTOCOLS } from "./support/streams.ts";
import { Target } from "./support/target.ts";
import { freePair, Together } from "./support/together.ts";
import { VirtualWorkspaces } from "./support/virtual-workspaces.ts";

const own = (): string => kubectls()[0] ?? "";
const HUB = { more: ["--batteries-included=workspace-types,cluster-proxy"] };
const WORKSPACES = make.within("root", make.paths.WORKSPACES);
const PROXY = "/clusters/root/apis/proxy.kcp.io/v1alpha1/clusterproxies/pods";

describe("a remote cluster with two hubs, by kubectl", function () {
  this.timeout(120_000);
  const running = new AsyncDisposableStack();
  before(async function () {
    needsKubectl.call(this);
    await etcdThere("3.4").call(this);
    await building("target").call(this);
  });
  after(() => running.disposeAsync());

  it("is reachable through a hub without a tunnel, through both hubs with one, and after one hub is killed", async () => {
    const together = running.use(await Together.start());
    const pods = running.use(await Target.start());
    const files = running.use(tree({}));
    const [first, one] = await together.process("one", HUB);
    running.use(first);
    const [second, two] = await together.process("two", HUB);
    running.use(second);
    const at = (name: string, of: typeof one): string => {
      const kubeconfig = join(files.path, name);
      const path = name === "two" ? "/services/clusterproxy/root/pods" : "/clusters/root";
      writeFileSync(kubeconfig, together.kubeconfigOf(of, path));
      return kubeconfig;
    };
    await proxyIn(one, "root");
    const token = ["agent", "token", "pods", "--kubeconfig", at("one", one)];
    await using program = new VirtualWorkspaces(token, { HOME: files.path });
    expect((await program.ended).code, program.stderr).to.equal(0);
    const bootstrap = program.lines.join("\n");

    const lone = new AgentProgram({ bootstrap, cluster: clusterAt(pods.url), hubs: 1 });
    await lone.said(/connected/);
    const urls = (
      await one.until(PROXY, ({ body }) => body.status.phase === "Ready" && body.status.virtualWorkspaces.length === 2)
    ).body;
    expect(urls.status.virtualWorkspaces).to.have.deep.members(
      [one, two].map(({ url }) => ({ url: `${url}/services/clusterproxy/root/pods` })),
    );
    const home = (env: Readonly<Record<string, string>> = {}): KubectlHome => ({
      home: files.path,
      kubeconfig: at("two", two),
      env,
    });
    const metrics = async (of: typeof one): Promise<string | undefined> =>
      /^clusterproxy_tunnels (\d+)$/m.exec(String((await of.get("/metrics")).body))?.[1];
    expect([await metrics(one), await metrics(two)]).to.deep.equal(["1", "0"]);
    // All requests go to the hub without a tunnel.
    for (const env of Object.values(PROTOCOLS)) await expectStreams(own(), home(env));

    lone.signal("SIGTERM");
    expect((await lone.ended).code, lone.stderr).to.equal(0);
    const kept = { hub: readFileSync(join(lone.folder.path, "hub.kubeconfig"), "utf8"), cluster: clusterAt(pods.url) };
    await lone[Symbol.asyncDispose]();
    const both = running.use(new AgentProgram(kept));
    await both.said(/connected/, 2);
    await two.until(PROXY, ({ body }) => body.status.agent.hubs.length === 2);
    expect([await metrics(one), await metrics(two)]).to.deep.equal(["1", "1"]);
    const list = async (): Promise<number | null> => (await kubectl(own(), home(), ["get", "pods"])).code;
    const codes: Promise<number | null>[] = [];
    first.signal("SIGKILL");
    for (let times = 0; times < 5; times++) codes.push(list());
    expect(await Promise.all(codes)).to.deep.equal(codes.map(() => 0));
    expect(await list()).to.equal(0);

    // After a restart the agent finds the remaining hub, because it has stored its address.
    both.signal("SIGTERM");
    expect((await both.ended).code, both.stderr).to.equal(0);
    const hub = readFileSync(join(both.folder.path, "hub.kubeconfig"), "utf8");
    expect(hub).to.include(`"server": "${two.url}/services/clusterproxy-agents/`);
    const again = running.use(new AgentProgram({ hub, cluster: clusterAt(pods.url) }));
    await again.said(/connected/);
    expect(await list()).to.equal(0);
  });

  it("is on a second shard of both processes, each of which has a hub on its own port", async () => {
    const together = running.use(await Together.start());
    const pods = running.use(await Target.start());
    const files = running.use(tree({}));
    const port = await freePair();
    const started = async (name: string, address: string) => {
      const hub = `--cluster-proxy-hub-url=https://${address}:${port}`;
      const [server, admin] = await together.process(name, {
        more: [...HUB.more, "--shards=2", "--external-hostname=kcp.example.com", hub],
        ...{ address, listen: [`--bind-address=${address}`, `--secure-port=${port}`] },
      });
      running.use(server);
      return running.use(admin);
    };
    const one = await started("one", "127.0.0.1");
    const two = await started("two", "127.0.0.3");
    const far = { ...make.workspace("far"), spec: { location: { selector: { matchLabels: { name: "shard-1" } } } } };
    await one.ok("POST", WORKSPACES, far);
    await one.until(`${WORKSPACES}/far`, ({ body }) => body.status?.phase === "Ready");
    await proxyIn(one, "root:far");
    const kubeconfig = join(files.path, "far");
    const shard = { url: `https://127.0.0.1:${port + 1}` };
    writeFileSync(kubeconfig, together.kubeconfigOf(shard, "/clusters/root:far"));
    await using program = new VirtualWorkspaces(["agent", "token", "pods", "--kubeconfig", kubeconfig], {
      HOME: files.path,
    });
    expect((await program.ended).code, program.stderr).to.equal(0);
    const agent = running.use(
      new AgentProgram({ bootstrap: program.lines.join("\n"), cluster: clusterAt(pods.url), hubs: 1 }),
    );
    await agent.said(/connected/);
    const { status } = await one.ok("GET", PROXY.replace("root", "root:far"));
    expect(status.virtualWorkspaces.map(({ url }: { readonly url: string }) => new URL(url).host)).to.have.members([
      `127.0.0.1:${port + 1}`,
      `127.0.0.3:${port + 1}`,
    ]);
    // The other process' hub of that shard has no tunnel.
    writeFileSync(
      kubeconfig,
      together.kubeconfigOf({ url: `https://127.0.0.3:${port + 1}` }, "/services/clusterproxy/root:far/pods"),
    );
    const home: KubectlHome = { home: files.path, kubeconfig, env: {} };
    // The other process learns of the ClusterProxy and its tunnel a moment later, over etcd.
    let output = "";
    const answers = async () => {
      const { code, stderr } = await kubectl(own(), home, ["get", "pods"]);
      output = stderr;
      return code === 0;
    };
    await until(answers, { what: () => output });
    two[Symbol.dispose]();
  });
});

/** Binds the kind in a workspace, and creates a ClusterProxy. */
async function proxyIn(admin: Admin, workspace: string): Promise<void> {
  const binding = {
    ...{ apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "remote" } },
    spec: { reference: { export: { path: "root", name: "cluster.proxy.kcp.io" } } },
  };
  const [, rest = ""] = PROXY.replace("/pods", "").split("/clusters/root");
  const proxies = make.within(workspace, rest);
  await admin.ok("POST", make.within(workspace, "/apis/apis.kcp.io/v1alpha2/apibindings"), binding);
  await admin.until(proxies, ({ status }) => status === 200);
  const proxy = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name: "pods" } };
  await admin.ok("POST", proxies, proxy);
}
