// The conformance suite on what two shards replicate: read as one shard's, and as all shards'.
import { APIExport } from "@virtual-workspaces/kcp";
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { ensure, modify, remove } from "../../../../packages/workspace-server/src/state/modify.ts";
import { ShardRegistry } from "../../../../packages/workspace-server/src/state/shard-registry.ts";
import { cacheView } from "../../../../packages/workspace-server/src/views/cache-view.ts";
import { testLog } from "../../../_setup/log.ts";
import { BareShard, serve } from "../tree/support/shards.ts";

const key = (name: string) => ({ cluster: "a", namespace: "", name });

describe("the conformance suite on what is replicated", function () {
  this.timeout(60_000);

  for (const shard of ["one", "*"])
    it(`passes on ${shard === "*" ? "all shards" : "one shard"}`, async () => {
      const registry = new ShardRegistry();
      await using one = await BareShard.start("one", registry);
      await using _two = await BareShard.start("two", registry);
      const exports = one.context.objects.of(APIExport);
      const make = (name: string) => ensure(exports, key(name), () => ({ spec: {} }));
      for (const name of ["x", "y", "z"]) await make(name);
      await using server = await serve(cacheView({ registry, ready: async () => undefined, log: testLog().log }));
      let made = 0;
      const report = await runConformance({
        url: `${server.url}/services/cache/shards/${shard}/clusters/a`,
        credentials: { token: "root" },
        others: [{ token: "alice" }],
        strict: true,
        deadlines: { prompt: 5_000 },
        resources: ({ name }) => name === "apiexports",
        mutate: {
          create: async () => {
            const name = `made-${made++}`;
            await make(name);
            return { namespace: "", name };
          },
          update: async (_, { name }) => {
            const labels = { changed: String(made++) };
            await modify(exports, key(name), (found) => ({ ...found, metadata: { ...found.metadata, labels } }));
          },
          delete: async (_, { name }) => void (await remove(exports, key(name))),
        },
      });
      expect(report.results.filter(({ outcome }) => outcome === "failed")).to.deep.equal([]);
      expect(report.passed).to.be.above(40);
    });
});
