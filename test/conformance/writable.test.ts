// Runs the conformance suite over writable views. It creates all objects over HTTP, and deletes them.
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
  staticTokens,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import {
  type ConformanceReport,
  type ConformanceWrites,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import lensView from "../../examples/lens.ts";
import todoView, { todos } from "../../examples/todo.ts";
import { testLog } from "../_setup/log.ts";

async function reportOn(served: VirtualWorkspace, path: string, writes: ConformanceWrites): Promise<ConformanceReport> {
  const authentication = [staticTokens({ patcher: { name: "patcher" } })];
  await using server = await startTestServer([served], { log: testLog().log, authentication });
  return await runConformance({
    url: `${server.url}${path}`,
    credentials: server.credentials,
    others: [{ token: "patcher" }],
    strict: true,
    deadlines: { prompt: 2_500 },
    writes,
  });
}

const found = ({ results }: ConformanceReport, wanted: string): string[] =>
  results
    .filter(({ outcome }) => outcome === wanted)
    .map(({ id, reason, failure }) => `${id} ${reason ?? JSON.stringify(failure)}`);

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
  status: {
    type: "object",
    default: {},
    properties: { phase: { type: "string", enum: ["New", "Running"], default: "New" } },
  },
  selectableFields: [".spec.zone"],
  gracePeriodSeconds: 30,
});

/** Skipped checks: these views have no garbage collector, and no namespace objects. */
const UNCOLLECTED = Array.from({ length: 7 }, (_, at) => `T10.${at + 9}`);
/** Skipped checks: the other user may do everything in all namespaces. */
const UNLIMITED = [1, 2, 3, 4].map((at) => `T14.${at}`);

describe("conformance suite: writes", function () {
  this.timeout(60_000);

  it("passes for a collection of a namespaced kind with status and a selectable field", async () => {
    const machines = Machine.collection();
    const served = defineVirtualWorkspace({
      name: "machines",
      path: "/clusters/:cluster",
      authorize: ({ user, verb }) => (user.name === "patcher" && verb !== "patch" ? deny("patches only") : allow()),
      resources: [Machine.serve(machines)],
    });
    const report = await reportOn(served, "/services/machines/clusters/root", { patchOnly: { token: "patcher" } });
    expect(found(report, "failed")).to.deep.equal([]);
    expect(found(report, "skipped")).to.deep.equal([
      ...UNCOLLECTED.map(
        (id) => `${id} the run does not state that dependents and namespace contents are deleted here: use collects`,
      ),
      "T20.3 the rules review is marked incomplete",
    ]);
    expect(report.left).to.deep.equal([]);
    expect(machines.in("root", "default").list()).to.deep.equal([]);
  });

  it("passes for examples/todo.ts, whose rules it learns from rejected requests", async () => {
    const before = todos.in("root", "default").list().length;
    const report = await reportOn(todoView, "/services/todo/clusters/root", {});
    expect(found(report, "failed")).to.deep.equal([]);
    const [owner, ...others] = found(report, "skipped");
    expect(owner).to.match(/^T5\.2 the selectable field cannot be changed: .*the owner stays$/);
    const ids = others.map((why) => why.split(" ")[0]);
    expect(ids, "no time to end, no patchOnly").to.deep.equal(["T5.7", "T9.8", ...UNCOLLECTED, ...UNLIMITED, "V25"]);
    expect([todos.in("root", "default").list().length, report.left]).to.deep.equal([before, []]);
  });

  it("passes for examples/lens.ts, a view of another kind that writes through", async () => {
    const before = todos.in("root", "default").list().length;
    const report = await reportOn(lensView, "/services/lens/clusters/root", {});
    expect(found(report, "failed")).to.deep.equal([]);
    const skipped = found(report, "skipped").map((why) => why.split(" ")[0]);
    const none = "no selectable field, no time to end, no patchOnly, no /status";
    expect(skipped, none).to.deep.equal(["T5.2", "T5.7", "T9.8", ...UNCOLLECTED, ...UNLIMITED, "V23", "V24", "V25"]);
    expect([todos.in("root", "default").list().length, report.left]).to.deep.equal([before, []]);
  });

  it("passes for a part of a collection that writes through, beside objects outside it", async () => {
    const parts = Machine.collection();
    const here = parts.in("root", "default");
    here.set("hidden", { zone: "south", address: "10.0.0.1" }, { labels: { hidden: "yes" } });
    const shown = view({
      from: parts,
      select: ({ metadata }) => metadata.labels?.["hidden"] !== "yes",
      mapToSource: (object) => object,
    });
    const served = defineVirtualWorkspace({
      name: "shown",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Machine.serve(shown)],
    });
    const report = await reportOn(served, "/services/shown/clusters/root", {});
    expect(found(report, "failed")).to.deep.equal([]);
    expect(found(report, "skipped").map((why) => why.split(" ")[0])).to.deep.equal([
      "T9.8",
      ...UNCOLLECTED,
      ...UNLIMITED,
      "T20.3",
    ]);
    expect([here.list().map(({ metadata }) => metadata.name), report.left]).to.deep.equal([["hidden"], []]);
  });
});
