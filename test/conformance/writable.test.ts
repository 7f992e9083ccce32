// The conformance suite over views that are written: all it makes it makes over the wire, and nothing of it stays.
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import {
  type ConformanceReport,
  type ConformanceWrites,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import todoView, { todos } from "../../examples/todo.ts";
import { testLog } from "../_setup/log.ts";

async function reportOn(view: VirtualWorkspace, path: string, writes: ConformanceWrites): Promise<ConformanceReport> {
  const authentication = [staticTokens({ patcher: { name: "patcher" } })];
  await using server = await startTestServer([view], { log: testLog().log, authentication });
  return await runConformance({
    url: `${server.url}${path}`,
    credentials: server.credentials,
    strict: true,
    deadlines: { prompt: 2_500 },
    writes,
  });
}

const found = ({ results }: ConformanceReport, wanted: string): string[] =>
  results
    .filter(({ outcome }) => outcome === wanted)
    .map(({ id, reason, failure }) => `${id} ${reason ?? JSON.stringify(failure)}`);

describe("the conformance suite, writing", function () {
  this.timeout(60_000);

  it("passes on a collection of a namespaced kind with status and a selectable field", async () => {
    const Machine = defineResource({
      group: "example.dev",
      version: "v1",
      kind: "Machine",
      scope: "Namespaced",
      spec: {
        type: "object",
        required: ["zone", "address"],
        properties: {
          zone: { type: "string", enum: ["north", "south"] },
          address: { type: "string", format: "ipv4" },
        },
      },
      status: { type: "object", properties: { phase: { type: "string" } } },
      selectableFields: [".spec.zone"],
    });
    const machines = Machine.collection();
    const view = defineVirtualWorkspace({
      name: "machines",
      path: "/clusters/:cluster",
      authorize: ({ user, verb }) => (user.name === "patcher" && verb !== "patch" ? deny("patches only") : allow()),
      resources: [Machine.serve(machines)],
    });
    const report = await reportOn(view, "/services/machines/clusters/root", { patchOnly: { token: "patcher" } });
    expect(found(report, "failed")).to.deep.equal([]);
    expect(found(report, "skipped")).to.deep.equal([]);
    expect(report.left).to.deep.equal([]);
    expect(machines.in("root", "default").list()).to.deep.equal([]);
  });

  it("passes on examples/todo.ts, whose rules it is told of by refusals", async () => {
    const before = todos.in("root", "default").list().length;
    const report = await reportOn(todoView, "/services/todo/clusters/root", {});
    expect(found(report, "failed")).to.deep.equal([]);
    const [owner, patcher, ...others] = found(report, "skipped");
    expect(owner).to.match(/^T5\.2 the field that selects cannot be changed so: .*the owner stays$/);
    expect([patcher?.slice(0, 4), others]).to.deep.equal(["T9.8", []]);
    expect([todos.in("root", "default").list().length, report.left]).to.deep.equal([before, []]);
  });
});
