// Why: exports of one shard can be bound on another, and are published where bindings are.
import { APIBinding, APIExport, APIExportEndpointSlice, APIResourceSchema } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { ensure, modify, remove } from "../../../packages/workspace-server/src/state/modify.ts";
import { ShardRegistry } from "../../../packages/workspace-server/src/state/shard-registry.ts";
import { until } from "../../_support/until.ts";
import { bindingOf, exportOf, pathOf, said, schemaOf, TestShard } from "./support/shard.ts";

const key = (cluster: string, name: string) => ({ cluster, namespace: "", name });

describe("exports of another shard", () => {
  it("are bound once the shard joins, and published for the shards with bindings", async () => {
    const registry = new ShardRegistry();
    await using one = await new TestShard({ name: "one", registry }).start();
    await using two = await new TestShard({ name: "two", registry }).start();
    const joined = one.bindings.join(two.peer);
    await one.clusters("provider");
    await two.clusters("a");
    await ensure(two.objects.of(APIBinding), key("a", "w"), () => ({
      ...(bindingOf("w", `${pathOf("provider")}:widgets`) as { spec: never }),
      metadata: { finalizers: ["apis.kcp.io/apibinding-finalizer"] },
    }));
    await until(() => said(two.binding("a", "w") as never, "APIExportValid").includes("NotFound"));
    expect(said(two.binding("a", "w") as never, "Ready")).to.equal(
      "False WaitingForEstablished Waiting for API(s) to be established",
    );
    await ensure(one.objects.of(APIExport), key("provider", "widgets"), () => ({
      ...(exportOf("widgets", ["v1.widgets.example.dev"]) as { spec: never }),
      metadata: { annotations: { "kcp.io/path": pathOf("provider") } },
    }));
    await until(() => said(two.binding("a", "w") as never, "APIExportValid").includes("Invalid APIExport"));
    await ensure(
      one.objects.of(APIResourceSchema),
      key("provider", "v1.widgets.example.dev"),
      () => schemaOf("v1") as never,
    );
    await until(() => two.binding("a", "w").status?.phase === "Bound");
    expect([one.bindings.servedIn("*").length, two.bindings.servedIn("*").length]).to.deep.equal([0, 1]);
    expect(one.bindings.boundResource("a", "example.dev", "widgets")).to.equal(undefined);
    expect(two.bindings.boundResource("a", "example.dev", "widgets")).to.deep.equal({
      reference: { path: "root:provider", name: "widgets" },
      export: { cluster: "provider", name: "widgets", policy: false },
    });
    const slices = one.objects.of(APIExportEndpointSlice);
    const urls = async (): Promise<(string | undefined)[]> =>
      (await slices.in("provider").get("widgets"))?.status?.endpoints?.map(({ url }) => url) ?? [];
    await until(async () => (await urls()).length === 1);
    expect(await urls()).to.deep.equal(["https://two.test/services/apiexport/provider/widgets"]);
    await remove(two.objects.of(APIBinding), key("a", "w"));
    await until(async () => (await urls()).length === 0);
    joined[Symbol.dispose]();
  });

  it("report the partition of their slice", async () => {
    await using shard = await new TestShard().start();
    await shard.clusters("provider");
    const slices = shard.objects.of(APIExportEndpointSlice);
    await ensure(slices, key("provider", "part"), () => ({ spec: { export: { name: "none" }, partition: "eu" } }));
    const slice = () => slices.in("provider").get("part") as never;
    await until(async () => said(await slice(), "APIExportValid").startsWith("False"));
    expect(said(await slice(), "APIExportValid")).to.equal(
      "False APIExportNotFound Error getting APIExport provider|none",
    );
    await ensure(shard.objects.of(APIExport), key("provider", "none"), () => ({ spec: {} }));
    await until(async () => said(await slice(), "PartitionValid").startsWith("False"));
    expect(said(await slice(), "PartitionValid")).to.equal(
      'False PartitionInvalidReference partition.topology.kcp.io "eu" not found',
    );
    await modify(slices, key("provider", "part"), (found) => ({ ...found, spec: { export: { name: "none" } } }));
    await until(async () => said(await slice(), "PartitionValid") === "True");
  });

  it("have no deprecated URLs when disabled, and no slice when an annotation says so", async () => {
    await using shard = await new TestShard({ virtualWorkspaceURLs: false }).start();
    await shard.clusters("provider");
    await ensure(shard.objects.of(APIExport), key("provider", "x"), () => ({
      metadata: { annotations: { "apiexports.apis.kcp.io/skip-endpointslice": "" } },
      spec: {},
    }));
    const found = () => shard.objects.of(APIExport).in("provider").get("x");
    await until(async () => said((await found()) as never, "IdentityValid") === "True");
    expect((await found())?.status).to.not.have.property("virtualWorkspaces");
    expect(said((await found()) as never, "VirtualWorkspaceURLsReady")).to.equal("no VirtualWorkspaceURLsReady");
    expect(await shard.objects.of(APIExportEndpointSlice).in("provider").list()).to.deep.equal([]);
  });
});
