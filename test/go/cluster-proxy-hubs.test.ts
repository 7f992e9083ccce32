// Several hubs: processes over one etcd, an agent that dials them, and kubectl at either, one of which is killed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { AgentProgram, clusterAt } from "./support/agent.ts";
import { building } from "./support/build.ts";
import { etcdThere } from "./support/etcd.ts";
import { type KubectlHome, kubectl } from "./support/kubectl.ts";
import { expectStreams, PROTOCOLS } from "./support/streams.ts";
import { Target } from "./support/target.ts";
import { Together } from "./support/together.ts";
import { VirtualWorkspaces } from "./support/virtual-workspaces.ts";

const own = (): string => kubectls()[0] ?? "";
const HUB = { more: ["--batteries-included=workspace-types,cluster-proxy"] };
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

  it("is reached by the one that its agent has not dialled; by either when it has dialled both; and when one is killed", async () => {
    const together = running.use(await Together.start());
    const pods = running.use(await Target.start());
    const files = running.use(tree({}));
    const [first, one] = await together.process("one", HUB);
    running.use(first);
    const [second, two] = await together.process("two", HUB);
    running.use(second);
    const at = (name: string, of: typeof one): string => {
      const text = together.kubeconfigOf(of);
      const kubeconfig = join(files.path, name);
      writeFileSync(
        kubeconfig,
        text.replace("/clusters/root", name === "two" ? "/services/clusterproxy/root/pods" : "/clusters/root"),
      );
      return kubeconfig;
    };
    const binding = {
      ...{ apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "remote" } },
      spec: { reference: { export: { path: "root", name: "cluster.proxy.kcp.io" } } },
    };
    await one.ok("POST", "/clusters/root/apis/apis.kcp.io/v1alpha2/apibindings", binding);
    await one.until(PROXY.replace("/pods", ""), ({ status }) => status === 200);
    const proxy = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name: "pods" } };
    await one.ok("POST", PROXY.replace("/pods", ""), proxy);
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
    // Nothing but the hub that has no tunnel is asked.
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
    const codes = [list(), list()];
    first.signal("SIGKILL");
    for (let times = 0; times < 5; times++) codes.push(list());
    expect(await Promise.all(codes)).to.deep.equal(codes.map(() => 0));
    expect(await list()).to.equal(0);
  });
});
