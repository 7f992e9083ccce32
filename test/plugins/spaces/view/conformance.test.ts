// The conformance suite for several Spaces as one API server, and for one of them through the view.
import { matchResources, runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { Lent } from "../support/lent.ts";
import { Viewed } from "../support/viewed.ts";

describe("view of Spaces", function () {
  this.timeout(120_000);
  let lent: Lent;
  let viewed: Viewed;

  before(async () => {
    lent = await Lent.start("one", "two");
    viewed = await Viewed.over(lent);
    for (const name of ["menu", "wine", "bread"]) await lent.put("one", name);
    for (const name of ["fish", "cake", "beer"]) await lent.put("two", name);
  });
  after(async () => {
    await viewed?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });

  for (const at of ["*/*", "-/two"])
    it(`passes the conformance suite at ${at}`, async () => {
      const report = await runConformance({
        url: `${viewed.server.url}/services/spaces/${at}`,
        credentials: { token: "root" },
        others: [{ token: "bob" }],
        // Objects with the same name in both Spaces, such as namespaces, are ambiguous by name.
        resources: matchResources(["configmaps"]),
        // A Space gives schema URLs from its own root, and kubectl requests them below the view's path.
        checks: (id) => at === "*/*" || !id.startsWith("T8."),
        strict: at === "*/*",
      });
      const failed = report.results.filter(({ outcome }) => outcome === "failed");
      expect(failed.map(({ id, resource, failure }) => [id, resource, JSON.stringify(failure)].join(" "))).to.eql([]);
      expect(report.passed).to.be.above(50);
    });
});
