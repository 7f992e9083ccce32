// Objects that several shards share: of each shard, and merged.
import { APIExport } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { ensure, modify, remove } from "../../../../packages/workspace-server/src/state/modify.ts";
import { ShardRegistry } from "../../../../packages/workspace-server/src/state/shard-registry.ts";
import { cacheView } from "../../../../packages/workspace-server/src/views/cache-view.ts";
import { testLog } from "../../../_setup/log.ts";
import { BareShard, serve } from "../tree/support/shards.ts";

const EXPORTS = "/apis/apis.kcp.io/v1alpha2/apiexports";
const path = (shard: string, cluster = "*") => `/services/cache/shards/${shard}/clusters/${cluster}${EXPORTS}`;
const root = { user: "root" };
const key = (cluster: string, name: string) => ({ cluster, namespace: "", name });

interface Item {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

describe("the cache view of several shards", () => {
  it("shows one shard or all, in watches that continue while shards are added", async () => {
    const registry = new ShardRegistry();
    await using one = await BareShard.start("one", registry);
    const exports = one.context.objects.of(APIExport);
    await ensure(exports, key("a", "widgets"), () => ({ spec: {} }));
    const view = cacheView({ registry, ready: async () => undefined, log: testLog().log });
    await using server = await serve(view);
    const seen = async (at: string): Promise<string[]> => {
      const { status, text, body } = await server.get(at, root);
      expect(status, text).to.equal(200);
      return body.items.map(({ metadata: { name, annotations } }: Item) => `${annotations["kcp.io/shard"]} ${name}`);
    };
    expect(await seen(path("*"))).to.deep.equal(["one widgets"]);
    await using watch = await server.watch(`${path("*")}?watch=true`, root);
    expect(await watch.take(1)).to.deep.equal(["ADDED widgets"]);
    await using two = await BareShard.start("two", registry);
    const others = two.context.objects.of(APIExport);
    await ensure(others, key("b", "gadgets"), () => ({ spec: {} }));
    expect(await watch.take(1)).to.deep.equal(["ADDED gadgets"]);
    expect(await seen(path("*"))).to.deep.equal(["one widgets", "two gadgets"]);
    expect([await seen(path("one")), await seen(path("two")), await seen(path("two", "a"))]).to.deep.equal([
      ["one widgets"],
      ["two gadgets"],
      [],
    ]);
    expect(await seen(path("*", "b"))).to.deep.equal(["two gadgets"]);
    await modify(others, key("b", "gadgets"), (found) => ({ ...found, spec: { ...found.spec, resources: [] } }));
    expect(await watch.take(1)).to.deep.equal(["MODIFIED gadgets"]);
    await remove(others, key("b", "gadgets"));
    expect(await watch.take(1)).to.deep.equal(["DELETED gadgets"]);
    for (const user of ["alice", "bob"]) expect((await server.get(path("*"), { user })).status).to.equal(403);
  });
});
