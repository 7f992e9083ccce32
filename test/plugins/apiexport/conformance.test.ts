// The conformance suite on the view: writable in one workspace, and read-only for all of them.
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { untilAnswer } from "../../_support/until.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { ALL, MAPS, map, Provider, startViewed, WIDGETS, widget } from "./support/provider.ts";

const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };

describe("the view of an export is a conformant API server", function () {
  this.timeout(180_000);
  let server: Workspaces;
  let provider: Provider;
  let one: string;

  before(async () => {
    server = await startViewed();
    provider = await Provider.make(server, "provider", { permissionClaims: [CLAIM] });
    one = await provider.consumer("one", [{ ...CLAIM, selector: ALL, state: "Accepted" }]);
    const two = await provider.consumer("two", [{ ...CLAIM, selector: ALL, state: "Accepted" }]);
    for (const cluster of [one, two]) {
      await provider.post(cluster, WIDGETS, widget(`of-${cluster}`));
      await provider.post(cluster, MAPS, map(`of-${cluster}`));
    }
    await untilAnswer(
      () => provider.in(one).get(WIDGETS),
      ({ status }) => status === 200,
    );
  });

  after(() => server[Symbol.asyncDispose]());

  for (const [what, cluster] of [
    ["one workspace", () => one],
    ["all workspaces", () => "*"],
  ] as const)
    it(`in ${what}`, async () => {
      const report = await runConformance({
        url: `${server.url}${provider.url("", cluster())}`,
        credentials: { token: "alice" },
        others: [{ token: "bob" }],
        ...(cluster() === "*" ? {} : { writes: {} }),
        // Both versions of a kind have the same objects.
        resources: ({ version }) => version !== "v1beta1" && version !== "v1alpha1",
        deadlines: { prompt: 5_000 },
      });
      const failed = report.results.filter(({ outcome, failure }) => outcome === "failed" && !isOfOne(failure?.actual));
      expect(failed.map((one) => JSON.stringify(one)).join("\n")).to.equal("");
      expect(report.passed).to.be.above(cluster() === "*" ? 40 : 100);
      expect(report.left).to.deep.equal([]);
    });
});

/** Discovery lists all verbs and namespaces, like kcp, although requests for all workspaces have no single object or namespace. */
function isOfOne(actual = ""): boolean {
  if (actual.startsWith("405 ")) return actual.includes("in the `*` logical cluster");
  return actual.startsWith("400 ") && actual.includes("across all logical clusters");
}
