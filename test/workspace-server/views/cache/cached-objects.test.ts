// Why: kcp's own virtual workspaces read the objects of cached resources from the cache server, by their identity.
import { expect } from "chai";
import { CachedProvider, cachedResource, FLAVORS, flavor } from "../../bindings/support/cached.ts";
import type { Body } from "../../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../support/workspaces.ts";

const root = { user: "root" };
const at = (cluster: string, resource = FLAVORS, shard = "*") =>
  `/services/cache/shards/${shard}/clusters/${cluster}${resource}` as const;

describe("cached resources in the cache view", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: CachedProvider;
  let identified = "";

  beforeEach(async () => {
    server = await startWorkspaces(undefined, { cachedResources: true });
    provider = await CachedProvider.make(server);
    await provider.create(FLAVORS, flavor("a", { public: "true" }));
    await provider.create(FLAVORS, flavor("b"));
    await provider.cache("flavors", { labelSelector: { matchLabels: { public: "true" } } });
    const { status } = await provider.cached(({ status: now }) => now?.phase === "Ready");
    identified = `${FLAVORS}:${status.identityHash}`;
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const names = async (path: `/${string}`): Promise<string[]> => {
    const { status, text, body } = await server.get(path, root);
    expect(status, text).to.equal(200);
    return body.items.map(({ metadata }: Body) => metadata.name);
  };
  const status = async (path: `/${string}`, user = "root"): Promise<number> =>
    (await server.get(path, { user })).status;

  it("are listed by identity over all logical clusters, as copies of kcp", async () => {
    const { body } = await server.get(at("*", identified), root);
    expect([body.kind, body.items.length]).to.deep.equal(["FlavorList", 1]);
    const [item] = body.items;
    const { body: original } = await provider.get(`${FLAVORS}/a`);
    expect([item.apiVersion, item.kind, item.spec]).to.deep.equal([original.apiVersion, "Flavor", { cpus: 2 }]);
    expect(item.metadata.annotations).to.include({
      "kcp.io/cluster": provider.cluster,
      "kcp.io/shard": "root",
      "cache.kcp.io/original-resource-UID": original.metadata.uid,
      "cache.kcp.io/original-resource-version": original.metadata.resourceVersion,
    });
    expect(await names(at("*", identified, "root"))).to.deep.equal(["a"]);
    expect(await names(at("*", identified, "other"))).to.deep.equal([]);
  });

  it("are listed in the provider's logical cluster with or without the identity, and in no other", async () => {
    for (const resource of [identified, FLAVORS] as const) {
      expect(await names(at(provider.cluster, resource)), resource).to.deep.equal(["a"]);
      expect(await status(at("root", resource)), resource).to.equal(404);
    }
    expect(await status(`${at(provider.cluster)}/a`)).to.equal(200);
    expect(await status(`${at(provider.cluster)}/b`)).to.equal(404);
    for (const resource of [FLAVORS, `${FLAVORS}:other`] as const)
      expect(await status(at("*", resource)), resource).to.equal(404);
    expect(await status(at("*", identified), "alice")).to.equal(403);
  });

  it("are watched while objects, selectors and ClusterCachedResources change", async () => {
    await using watch = await server.watch(`${at("*", identified)}?watch=true`, root);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    await provider.patch(`${FLAVORS}/b`, { metadata: { labels: { public: "true" } } });
    expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    await provider.patch("/apis/cache.kcp.io/v1alpha1/clustercachedresources/flavors", {
      spec: { labelSelector: { matchLabels: { public: "false" } } },
    });
    expect((await watch.take(2)).toSorted()).to.deep.equal(["DELETED a", "DELETED b"]);
    await provider.patch(`${FLAVORS}/a`, { metadata: { labels: { public: "false" } } });
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    await provider.delete("/apis/cache.kcp.io/v1alpha1/clustercachedresources/flavors");
    expect(await watch.take(1)).to.deep.equal(["DELETED a"]);
    expect(await status(at("*", identified))).to.equal(404);
  });

  it("come from every workspace with the identity", async () => {
    const { body: secret } = await provider.get("/api/v1/namespaces/kcp-system/secrets/flavors");
    const second = await CachedProvider.make(server, "second");
    await using watch = await server.watch(`${at("*", identified)}?watch=true`, root);
    await watch.take(1);
    const key = { apiVersion: "v1", kind: "Secret", metadata: { name: "shared" }, data: secret.data };
    await second.create("/api/v1/namespaces/default/secrets", key);
    await second.create(FLAVORS, flavor("c"));
    const of = { group: "cloud.example.dev", version: "v1", resource: "flavors" };
    const identity = { secretRef: { namespace: "default", name: "shared" } };
    await second.create(
      "/apis/cache.kcp.io/v1alpha1/clustercachedresources",
      cachedResource("flavors", { ...of, identity }),
    );
    expect(await watch.take(1)).to.deep.equal(["ADDED c"]);
    expect((await names(at("*", identified))).toSorted()).to.deep.equal(["a", "c"]);
    expect(await names(at(second.cluster, identified))).to.deep.equal(["c"]);
  });
});
