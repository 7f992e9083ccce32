// Cached resources of a provider on one shard, read by workspaces of another: live, and at the URL of each shard.
import { ApiModel, replicationView } from "@virtual-workspaces/apiexport";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { CachedProvider, FLAVORS, flavor } from "../../workspace-server/bindings/support/cached.ts";
import { makeOn, Stores, startSharded } from "../../workspace-server/shards/support.ts";
import { grant } from "../../workspace-server/support/logical-clusters.ts";
import type { Body } from "../../workspace-server/support/objects.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";

const alice = { user: "alice" };
const SHARDS = ["root", "shard-1"];

describe("cached resources of several shards", function () {
  this.timeout(90_000);
  const stores = new Stores();
  let server: Workspaces;
  let provider: CachedProvider;
  const consumers: Record<string, string> = {};

  before(async () => {
    const everywhere = loopback();
    const viewOver = ({ upstream }: Loopback) =>
      replicationView({ upstream, everywhere: everywhere.upstream, model: new ApiModel({ upstream }), allowCache: 0 });
    server = await startSharded(stores, {
      loopback: everywhere,
      virtualWorkspaces: [viewOver(everywhere)],
      cachedResources: true,
      shards: { virtualWorkspaces: (_, context) => [viewOver(context.loopback)] },
    });
    provider = await CachedProvider.make(server, "provider", (name) => makeOn(server, name, { shard: "shard-1" }));
    await provider.create(FLAVORS, flavor("small"));
    await provider.publish();
    for (const shard of SHARDS) {
      const cluster = await provider.consumer(`on-${shard}`, (name) => makeOn(server, name, { shard }));
      await grant(server, cluster, { user: "alice", verbs: ["get", "list", "watch"] });
      consumers[shard] = cluster;
    }
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });

  it("publish a URL for each shard with a consumer", async () => {
    const { status } = await provider.slice((now) => now.status?.endpoints?.length === 2);
    const path = `/services/replication/${provider.cluster}/flavors`;
    const urls: string[] = status.endpoints.map(({ url }: Body) => url);
    for (const url of urls) expect(url).to.satisfy((one: string) => one.endsWith(path));
    expect(urls).to.include(server.url + path);
  });

  it("are listed and watched in the workspaces of each", async () => {
    for (const shard of SHARDS) {
      const cluster = consumers[shard] ?? "";
      await using watch = await server.watch(`/clusters/${cluster}${FLAVORS}?watch=true`, alice);
      await watch.until(({ object }) => (object as Body).metadata.name === "small");
      await provider.create(FLAVORS, flavor(`for-${shard}`));
      const [event] = (await watch.until(({ object }) => (object as Body).metadata.name === `for-${shard}`)).slice(-1);
      expect((event as Body).object.metadata.annotations["kcp.io/cluster"]).to.equal(cluster);
    }
    const cluster = consumers["root"] ?? "";
    const { body } = await server.get(`/clusters/${cluster}${FLAVORS}`, alice);
    expect(body.items.map(({ metadata }: Body) => metadata.name)).to.deep.equal(["for-root", "for-shard-1", "small"]);
  });

  it("are not shown by the view of a shard for workspaces of another", async () => {
    const { status } = await provider.slice((now) => now.status?.endpoints?.length === 2);
    const far = status.endpoints.map(({ url }: Body) => url).find((url: string) => !url.startsWith(server.url));
    const get = async (cluster: string): Promise<number> =>
      (await fetch(`${far}/clusters/${cluster}${FLAVORS}`, { headers: { Authorization: "Bearer alice" } })).status;
    expect([await get(consumers["shard-1"] ?? ""), await get(consumers["root"] ?? "")]).to.deep.equal([200, 403]);
  });
});
