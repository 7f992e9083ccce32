// The conformance suite on the view of preparing workspaces, for all of them: this process computes lists and watches.
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { Owner, startViewed } from "./support/owner.ts";

describe("the view of preparing workspaces is a conformant API server", function () {
  this.timeout(180_000);
  let server: Workspaces;

  before(async () => {
    server = await startViewed();
  });

  after(async () => server?.[Symbol.asyncDispose]());

  it("for all workspaces", async () => {
    const owner = await Owner.make(server, { app: { extend: { with: [{ name: "universal", path: "root" }] } } });
    await owner.prepares("app", "true");
    for (const name of ["one", "two"]) {
      const cluster = await owner.workspace(name);
      await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
    }
    const report = await runConformance({
      url: `${server.url}/services/preparingworkspaces/${owner.cluster}:app/clusters/*`,
      credentials: { token: "alice" },
      others: [{ token: "bob" }],
      deadlines: { prompt: 5_000 },
    });
    const failed = report.results.filter(({ outcome, failure }) => outcome === "failed" && !isOfOne(failure?.actual));
    expect(failed.map((one) => JSON.stringify(one)).join("\n")).to.equal("");
    expect(report.passed).to.be.above(40);
  });
});

/** Discovery lists all verbs, like kcp, although requests for all workspaces have no single object. */
function isOfOne(actual = ""): boolean {
  return actual.startsWith("405 ") && actual.includes("in the `*` logical cluster");
}
