// The conformance suite on the tree of workspaces, as a user with access to single workspaces.
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { ShardRegistry } from "../../../../packages/workspace-server/src/state/shard-registry.ts";
import { treeView } from "../../../../packages/workspace-server/src/views/tree-view.ts";
import { testLog } from "../../../_setup/log.ts";
import { BareShard, serve } from "./support/shards.ts";

describe("the conformance suite on the tree of workspaces", function () {
  this.timeout(60_000);

  /** Only users who see all Workspaces get 404 for a missing one: others are forbidden to get any that they do not see. */
  const SKIPPED: Readonly<Record<string, string>> = { alice: "T3.6", root: "" };

  for (const [user, skipped] of Object.entries(SKIPPED))
    it(`passes for ${user}`, async () => {
      const registry = new ShardRegistry();
      await using home = await BareShard.start("root", registry);
      await using far = await BareShard.start("far", registry);
      const make = async (name: string, user = "alice"): Promise<void> => {
        await far.cluster(`lc-${name}`, `root:${name}`);
        await home.workspace("root", name, { cluster: `lc-${name}` });
        await far.admit(`lc-${name}`, user);
      };
      await home.cluster("root", "root");
      for (const name of ["one", "two", "three"]) await make(name);
      await make("hidden", "bob");
      const view = treeView({ registry, ready: async () => undefined, log: testLog().log });
      await using server = await serve(view);
      let made = 0;
      const report = await runConformance({
        url: `${server.url}/services/workspaces/clusters/root`,
        credentials: { token: user },
        checks: (id) => id !== skipped,
        others: [{ token: "bob" }],
        strict: true,
        deadlines: { prompt: 5_000 },
        resources: ({ name }) => name === "workspaces",
        mutate: {
          create: async () => {
            const name = `made-${made++}`;
            await make(name);
            return { namespace: "", name };
          },
          update: ({ name: _ }, { name }) => home.label("root", name, { changed: String(made++) }),
          delete: (_, { name }) => home.removeWorkspace("root", name),
        },
      });
      expect(report.results.filter(({ outcome }) => outcome === "failed")).to.deep.equal([]);
      expect(report.passed).to.be.above(40);
    });
});
