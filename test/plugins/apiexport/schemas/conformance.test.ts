// The conformance suite on the view of bound schemas, which is read-only.
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer } from "../support/consumer.ts";
import { Provider, startViewed } from "../support/provider.ts";

describe("the view of bound schemas is a conformant API server", function () {
  this.timeout(180_000);
  let server: Workspaces;
  let consumer: Consumer;

  before(async () => {
    server = await startViewed();
    const provider = await Provider.make(server);
    consumer = await Consumer.make(server, "consumer");
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
  });

  after(() => server[Symbol.asyncDispose]());

  for (const [what, suffix] of [
    ["by itself", () => ""],
    ["as clients ask that know of logical clusters", () => "/clusters/*"],
  ] as const)
    it(what, async () => {
      const report = await runConformance({
        url: `${server.url}${consumer.url("", suffix())}`,
        credentials: { token: "alice" },
        others: [{ token: "bob" }],
        deadlines: { prompt: 5_000 },
      });
      const failed = report.results.filter(({ outcome }) => outcome === "failed");
      expect(failed.map((one) => JSON.stringify(one)).join("\n")).to.equal("");
      expect(report.passed).to.be.above(40);
      expect(report.left).to.deep.equal([]);
    });
});
