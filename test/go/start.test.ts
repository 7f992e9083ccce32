// `virtual-workspaces start` and a Go program with client-go's default typed clients: on disk, on etcd, and after a crash.
import { expect } from "chai";
import { Start } from "../cli/support/start.ts";
import { kubectls } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { GoClient, type GoEvent } from "./support/client.ts";
import { EtcdCluster, etcdThere } from "./support/etcd.ts";
import { kubectl } from "./support/kubectl.ts";

/** Expected objects of a namespace. */
const made = (namespace: string): object => ({
  before: 0,
  after: 1,
  seen: [`ADDED map[where:${namespace}]`, `MODIFIED map[changed:yes where:${namespace}]`],
  data: { where: namespace, changed: "yes" },
  bytes: "AP8=",
});

describe("a workspace of virtual-workspaces start", function () {
  this.timeout(120_000);
  before(building("clients"));

  /** Returns the results of a run, step by step. */
  async function run(server: Start): Promise<Map<string, Omit<GoEvent, "event" | "at">>> {
    await using client = GoClient.start("workspace", { kubeconfig: server.home.kubeconfig });
    await client.event("done", undefined, 60_000);
    const { types } = await client.event("sent");
    const others = Object.keys(types).filter((sent) => !sent.startsWith("application/vnd.kubernetes.protobuf "));
    expect(others, "requests without protobuf").to.deep.equal([]);
    const steps = client.all("step").map(({ event: _event, at: _at, step, ...said }) => [String(step), said] as const);
    await client.end();
    return new Map(steps);
  }

  it("serves typed clients in two namespaces, and elects leaders", async () => {
    await using server = await Start.ready();
    const steps = await run(server);
    expect(steps.get("namespace")).to.deep.equal({ phase: "Active" });
    for (const namespace of ["default", "other"]) expect(steps.get(namespace)).to.deep.equal(made(namespace));
    expect(steps.get("all namespaces")).to.deep.equal({ names: ["default/settings", "other/settings"] });
    expect(steps.get("missing namespace")).to.include({
      reason: "NotFound",
      message: 'namespaces "missing" not found',
    });
    expect(steps.get("leader election")).to.deep.equal({});
    expect(server.stderr).not.to.match(/ (warn|error) /);
  });

  it("does the same on etcd, where another process continues after a crash", async function () {
    await etcdThere("3.4").call(this);
    await using etcd = await EtcdCluster.start({ version: "3.4" });
    const flags = ["--etcd-servers", etcd.endpoints.join(), "--etcd-prefix", etcd.prefix()];
    await using first = await Start.ready({ flags });
    const steps = await run(first);
    for (const namespace of ["default", "other"]) expect(steps.get(namespace)).to.deep.equal(made(namespace));
    await first.end("SIGKILL");
    await using second = await Start.ready({ flags });
    const said = await kubectl(kubectls()[0] ?? "", second.home, [
      "get",
      "configmap",
      "-A",
      "-l",
      "made=here",
      "-o",
      "name",
    ]);
    expect(said.stdout).to.equal("configmap/settings\nconfigmap/settings");
    await etcd.kill();
    while ((await second.get("/readyz/store")).code !== 503);
    expect((await second.get("/livez")).code).to.equal(200);
    etcd.launch();
    while ((await second.get("/readyz")).code !== 200);
    expect(second.stderr.match(/etcd [a-z ]*answer[a-z :]*/g)).to.deep.equal([
      "etcd does not answer: requests get ",
      "etcd answers again",
    ]);
    expect(await second.end("SIGTERM")).to.equal(0);
  });
});
