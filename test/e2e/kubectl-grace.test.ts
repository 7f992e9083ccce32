// `kubectl delete` of objects with a grace period: --grace-period, --now, --force, and waiting for the end.
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { kubeconfigHome, startTls } from "../_support/server.ts";
import { Program } from "../go/support/program.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

const Job = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Job",
  scope: "Namespaced",
  spec: { type: "object", properties: { n: { type: "integer" } } },
  gracePeriodSeconds: 30,
});

async function start() {
  const collection = Job.collection();
  const jobs = collection.in("root", "default");
  const server = await startTls([
    defineVirtualWorkspace({
      name: "jobs",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Job.serve(collection)],
    }),
  ]);
  const { authority, port } = server;
  const contexts = { jobs: "/services/jobs/clusters/root" };
  const home = await kubeconfigHome({ authority, port, contexts, namespace: "default" });
  const env = { HOME: home.home, KUBECONFIG: home.kubeconfig, KUBERC: "off" };
  const kubectl = (args: string): Program => new Program(kubectls()[0] ?? "", args.split(" "), env);
  /** Returns stdout, and stderr after a `!`, in the form of older versions, which did not name the namespace. */
  const said = async (args: string): Promise<string> => {
    await using program = kubectl(args);
    program.endInput();
    const { code } = await program.ended;
    const text = program.lines.map((line) => line.replace(" from default namespace", "")).join("\n");
    return `${code} ${text}${program.stderr === "" ? "" : ` ! ${program.stderr.trim()}`}`;
  };
  const close = async (): Promise<void> => {
    await server.close();
    home[Symbol.dispose]();
  };
  const period = (name: string) => jobs.get(name)?.metadata.deletionGracePeriodSeconds;
  return { jobs, kubectl, said, period, [Symbol.asyncDispose]: close };
}

describe("kubectl delete with a grace period", function () {
  this.timeout(60_000);
  before(needsKubectl);

  it("uses the period of the kind, of --grace-period, or one second with --now", async () => {
    await using stage = await start();
    for (const name of ["own", "five", "now"]) stage.jobs.set(name, {});
    expect(await stage.said("delete job own --wait=false")).to.equal('0 job.example.dev "own" deleted');
    expect(await stage.said("delete job five --grace-period=5 --wait=false")).to.match(/^0 job.* "five" deleted$/);
    expect(await stage.said("delete job now --now --wait=false")).to.match(/^0 job.* "now" deleted$/);
    expect(["own", "five", "now"].map(stage.period)).to.deep.equal([30, 5, 1]);
    expect(await stage.said("delete job own --grace-period=10 --wait=false")).to.match(/deleted$/);
    expect(stage.period("own")).to.equal(10);
  });

  it("deletes at once with --force, also objects in deletion", async () => {
    await using stage = await start();
    for (const name of ["a", "b"]) stage.jobs.set(name, {});
    await stage.said("delete job b --wait=false");
    expect(await stage.said("delete job a b --force --grace-period=0")).to.match(
      /^0 job\.example\.dev "a" force deleted\njob\.example\.dev "b" force deleted ! Warning: Immediate deletion /,
    );
    expect(stage.jobs.list()).to.deep.equal([]);
    stage.jobs.set("c", {});
    expect(await stage.said("delete job c --grace-period=0 --wait=false")).to.match(/^0 .*"c" deleted/);
    // Without --force kubectl asks for one second instead of none.
    expect(stage.period("c")).to.equal(1);
  });

  it("waits until the objects are deleted", async () => {
    await using stage = await start();
    stage.jobs.set("a", {});
    await using waiting = stage.kubectl("delete job a");
    await waiting.until("a word", () => waiting.lines.length > 0);
    expect([waiting.running, stage.period("a")]).to.deep.equal([true, 30]);
    stage.jobs.delete("a", { gracePeriodSeconds: 0 });
    expect((await waiting.ended).code).to.equal(0);
  });
});
