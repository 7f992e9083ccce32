// The view of cached resources: workspaces that bind an export read the objects of its provider, and no one else does.
import { ApiModel, apiExportView, replicationView } from "@virtual-workspaces/apiexport";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import {
  CACHED,
  CACHED_SLICES,
  CachedProvider,
  cachedSlice,
  FLAVORS,
  flavor,
  stateOf,
} from "../../workspace-server/bindings/support/cached.ts";
import { bind, grant, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { type Body, ClusterClient } from "../../workspace-server/support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";

const root = { user: "root" };
const alice = { user: "alice" };
const admin = { user: "admin" };
const bob = { user: "bob" };
const carol = { user: "carol" };
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const GROUP = "rbac.authorization.k8s.io";

/** Starts a server with cached resources, and the views of exports and of these. */
async function startCached(): Promise<Workspaces> {
  const own = loopback();
  const { upstream, identity } = own;
  const common = { upstream, identity, model: new ApiModel({ upstream }), allowCache: 0 };
  const virtualWorkspaces = [apiExportView(common), replicationView(common)];
  return startWorkspaces(undefined, { loopback: own, virtualWorkspaces, cachedResources: true, users: ["carol"] });
}

/** Grants a user verbs on the content of all exports of a workspace, and access to it. */
async function letContent(provider: CachedProvider, user: string, verbs: readonly string[]): Promise<void> {
  const name = `content-${user}`;
  const rules = [{ apiGroups: ["apis.kcp.io"], resources: ["apiexports/content"], verbs }];
  await provider.create(ROLES, { apiVersion: `${GROUP}/v1`, kind: "ClusterRole", metadata: { name }, rules });
  const subject = { apiGroup: GROUP, kind: "User", name: user };
  await bind(provider.server, provider.cluster, { name, role: name, subject });
  await bind(provider.server, provider.cluster, {
    name: `${name}-access`,
    role: "system:kcp:workspace:access",
    subject,
  });
}

describe("cached resources", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: CachedProvider;
  let shop: string;
  let office: string;

  before(async () => {
    server = await startCached();
    provider = await CachedProvider.make(server);
    await provider.create(FLAVORS, flavor("small", { public: "true" }));
    await provider.create(FLAVORS, flavor("secret"));
    await provider.publish({ labelSelector: { matchLabels: { public: "true" } } });
    shop = await provider.consumer("shop");
    office = await provider.consumer("office");
    await grant(server, shop, { user: "alice", verbs: ["get", "list", "watch"] });
  });
  after(() => server[Symbol.asyncDispose]());

  const view = (cluster: string, path: string = FLAVORS): `/${string}` =>
    `/services/replication/${provider.cluster}/flavors/clusters/${cluster}${path}`;
  const names = (body: Body): string[] => body.items.map(({ metadata }: Body) => metadata.name);

  it("publish the URL of their view once a workspace has bound the export", async () => {
    const { status } = await provider.slice((now) => now.status?.endpoints?.length === 1);
    expect(status.endpoints).to.deep.equal([{ url: `${server.url}/services/replication/${provider.cluster}/flavors` }]);
    for (const type of ["ResourceValid", "APIExportValid", "PartitionValid"])
      expect(stateOf({ status }, type), type).to.equal("True");
  });

  it("are read in each workspace with the binding, as if they belonged to it", async () => {
    const original = (await provider.get(`${FLAVORS}/small`)).body;
    for (const [cluster, user] of [
      [shop, "alice"],
      [office, "root"],
    ] as const) {
      const at = `/clusters/${cluster}${FLAVORS}` as const;
      const list = await server.get(at, { user });
      expect(names(list.body), list.text).to.deep.equal(["small"]);
      const annotations = { ...original.metadata.annotations, "kcp.io/cluster": cluster };
      const shown = { ...original, metadata: { ...original.metadata, annotations } };
      expect((await server.get(`${at}/small`, { user })).body).to.deep.equal(shown);
      expect(list.body.items[0].metadata).to.deep.equal(shown.metadata);
      expect((await server.get(`${at}/secret`, { user })).status).to.equal(404);
    }
    const found = await server.get(`/clusters/${shop}/apis/cloud.example.dev/v1`, alice);
    const [resource] = found.body.resources;
    expect([resource.name, resource.verbs]).to.deep.equal(["flavors", ["get", "list", "watch"]]);
  });

  it("reach watches in all these workspaces when they come, enter, leave and go", async () => {
    await using one = await server.watch(`/clusters/${shop}${FLAVORS}?watch=true`, alice);
    await using other = await server.watch(`/clusters/${office}${FLAVORS}?watch=true`, root);
    await provider.create(FLAVORS, flavor("large", { public: "true" }));
    await provider.patch(`${FLAVORS}/secret`, { metadata: { labels: { public: "true" } } });
    await provider.patch(`${FLAVORS}/secret`, { metadata: { labels: { public: null } } });
    await provider.delete(`${FLAVORS}/large`);
    const expected = ["ADDED small", "ADDED large", "ADDED secret", "DELETED secret", "DELETED large"];
    for (const [watch, cluster] of [
      [one, shop],
      [other, office],
    ] as const) {
      const events = await watch.until(
        ({ type, object }) => type === "DELETED" && (object as Body).metadata.name === "large",
      );
      const seen = events.map(({ type, object }) => `${type} ${(object as Body).metadata.name}`);
      expect(seen).to.deep.equal(expected);
      for (const { object } of events)
        expect((object as Body).metadata.annotations["kcp.io/cluster"]).to.equal(cluster);
    }
  });

  it("are watched from the version of a list, and by labels", async () => {
    const at = `/clusters/${shop}${FLAVORS}` as const;
    const { metadata } = (await server.get(at, alice)).body;
    await provider.create(FLAVORS, flavor("later", { public: "true", size: "big" }));
    await using after = await server.watch(`${at}?watch=true&resourceVersion=${metadata.resourceVersion}`, alice);
    expect(await after.take(1)).to.deep.equal(["ADDED later"]);
    const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using big = await server.watch(`${at}?watch=true&labelSelector=size=big&${initial}`, alice);
    const events = await big.until(({ type }) => type === "BOOKMARK");
    expect(events.map(({ type, object }) => [type, (object as Body).metadata.name])).to.deep.equal([
      ["ADDED", "later"],
      ["BOOKMARK", undefined],
    ]);
    const [{ object }] = events as [Body];
    expect(object.metadata.annotations["kcp.io/cluster"]).to.equal(shop);
    await provider.delete(`${FLAVORS}/later`);
    const [gone] = (await big.until(({ type }) => type === "DELETED")).slice(-1) as [Body];
    expect(gone.object.metadata.annotations["kcp.io/cluster"]).to.equal(shop);
  });

  it("cannot be written, in workspaces or through the view", async () => {
    const at = `/clusters/${shop}${FLAVORS}` as const;
    for (const path of [at, view(shop)]) {
      expect((await server.send(`POST ${path}`, flavor("mine"), root)).status, path).to.equal(405);
      for (const user of [root, admin])
        expect((await server.send(`DELETE ${path}/small`, undefined, user)).status, path).to.equal(405);
      expect((await server.send(`DELETE ${path}/small`, undefined, alice)).status, path).to.equal(403);
    }
    expect((await provider.get(`${FLAVORS}/small`)).status).to.equal(200);
  });

  it("are shown to the provider through the view of the export", async () => {
    const { cluster } = provider;
    const at = `/services/apiexport/${cluster}/compute/clusters/${shop}${FLAVORS}` as const;
    const list = await server.get(at, root);
    expect(
      list.body.items?.map(({ metadata }: Body) => metadata.annotations["kcp.io/cluster"]),
      list.text,
    ).to.deep.equal([shop]);
    await using watch = await server.watch(`${at}?watch=true`, root);
    expect(await watch.take(1)).to.deep.equal(["ADDED small"]);
  });

  it("are shown at the view itself to users whom the workspace or the export's provider lets read", async () => {
    expect((await server.get(view(shop), alice)).status).to.equal(200);
    expect((await server.get(view(office), alice)).status).to.equal(403);
    expect((await server.get(view(shop), bob)).status).to.equal(403);
    await letContent(provider, "carol", ["list"]);
    for (const cluster of [shop, office])
      expect(names((await server.get(view(cluster), carol)).body)).to.deep.equal(["small"]);
    expect((await server.get(`${view(shop)}/small`, carol)).status).to.equal(403);
    expect((await server.get(`${view(shop)}?watch=true`, carol)).status).to.equal(403);
  });

  it("are not shown for workspaces without the binding, or for a slice that does not exist", async () => {
    const other = await makeWorkspace(server, "other");
    await grant(server, other, { user: "alice", verbs: ["*"] });
    expect((await server.get(view(other), alice)).status).to.equal(403);
    expect((await server.get(`/clusters/${other}${FLAVORS}`, alice)).status).to.equal(404);
    const missing = `/services/replication/${provider.cluster}/missing/clusters/${shop}${FLAVORS}` as const;
    expect((await server.get(missing, alice)).status).to.equal(403);
    expect((await server.get(missing, root)).status).to.equal(404);
    expect((await server.get(view("root:shop"), alice)).status).to.equal(403);
  });

  it("cannot be read across all workspaces, where the view has only discovery", async () => {
    const message = "cached resources cannot be read across all logical clusters: name one logical cluster";
    expect(outcome(await server.get(view("*"), root))).to.deep.equal([400, "BadRequest", message]);
    expect((await server.get(`${view("*")}?watch=true`, root)).status).to.equal(400);
    const found = await server.get(view("*", "/apis/cloud.example.dev/v1"), root);
    expect(found.body.resources.map(({ name }: Body) => name)).to.deep.equal(["flavors"]);
    expect((await server.get(view("*", "/apis/cloud.example.dev/v1"), alice)).status).to.equal(403);
  });

  it("lose their readers when a workspace gives up the binding, or a user the permission", async () => {
    const left = await provider.consumer("left");
    await grant(server, left, { user: "alice", verbs: ["get", "list", "watch"] });
    await using watch = await server.watch(`${view(left)}?watch=true`, alice);
    expect(await watch.take(1)).to.deep.equal(["ADDED small"]);
    await new ClusterClient(server, left).delete("/apis/apis.kcp.io/v1alpha2/apibindings/compute");
    const events = await watch.until(({ type }) => type === "ERROR");
    expect((events.at(-1) as Body).object.code).to.equal(410);
    expect((await server.get(view(left), alice)).status).to.equal(403);
  });
});

describe("a slice of a ClusterCachedResource", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: CachedProvider;

  beforeEach(async () => {
    server = await startCached();
    provider = await CachedProvider.make(server);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("reports missing references one after the other", async () => {
    await provider.create(CACHED_SLICES, cachedSlice("flavors"));
    const { cluster } = provider;
    const first = await provider.slice((now) => stateOf(now, "ResourceValid") !== undefined);
    expect(stateOf(first, "ResourceValid")).to.equal(
      `False ClusterCachedResourceNotFound: Error getting ClusterCachedResource ${cluster}|flavors`,
    );
    await provider.cache();
    const second = await provider.slice((now) => stateOf(now, "APIExportValid") !== undefined);
    expect(stateOf(second, "ResourceValid")).to.equal("True");
    expect(stateOf(second, "APIExportValid")).to.equal(
      `False APIExportInvalidReference: APIExport ${cluster}|compute not found`,
    );
    await provider.delete(`${CACHED_SLICES}/flavors`);
    await provider.export("another");
    const third = await provider.slice((now) => /identityHash/.test(stateOf(now, "APIExportValid") ?? ""));
    expect(stateOf(third, "APIExportValid")).to.equal(
      `False APIExportInvalidReference: APIExport ${cluster}|compute has another storage.virtual.identityHash for flavors.cloud.example.dev than the status of the ClusterCachedResource`,
    );
  });

  it("is not for exports that do not refer to it", async () => {
    await provider.publish();
    await provider.create(CACHED_SLICES, cachedSlice("other"));
    const { cluster } = provider;
    const message = `APIExport ${cluster}|compute does not reference this ClusterCachedResourceEndpointSlice`;
    const other = await provider.slice((now) => stateOf(now, "APIExportValid") !== undefined, "other");
    expect(stateOf(other, "APIExportValid")).to.equal(`False APIExportInvalidReference: ${message}`);
    const thief = new CachedProvider(server, await makeWorkspace(server, "thief"));
    const references = { clusterCachedResource: { path: cluster, name: "flavors" } };
    await thief.create(
      CACHED_SLICES,
      cachedSlice("flavors", { ...references, export: { path: cluster, name: "compute" } }),
    );
    const elsewhere = await thief.slice((now) => stateOf(now, "APIExportValid") !== undefined);
    expect(stateOf(elsewhere, "APIExportValid")).to.equal(`False APIExportInvalidReference: ${message}`);
    const stolen = `/services/replication/${thief.cluster}/flavors/clusters/*/apis/cloud.example.dev/v1` as const;
    expect((await server.get(stolen, root)).status).to.equal(404);
    const missing = `/services/replication/${cluster}/other/clusters/*/apis/cloud.example.dev/v1` as const;
    expect((await server.get(missing, root)).status).to.equal(404);
  });

  it("keeps its references", async () => {
    await provider.create(CACHED_SLICES, cachedSlice("flavors"));
    for (const spec of [{ clusterCachedResource: { name: "other" } }, { export: { name: "other" } }]) {
      const answer = await provider.send("PATCH", `${CACHED_SLICES}/flavors`, { spec });
      expect([answer.status, answer.body.message], answer.text).to.satisfy(
        ([status, text]: [number, string]) => status === 422 && text.includes("reference must not be changed"),
      );
    }
  });

  it("refers to another workspace only for users who may bind its ClusterCachedResource", async () => {
    await provider.publish();
    const thief = new CachedProvider(server, await makeWorkspace(server, "thief"));
    await grant(server, thief.cluster, { user: "alice", verbs: ["*"] });
    const make = (path: string) =>
      server.send(
        `POST /clusters/${thief.cluster}${CACHED_SLICES}`,
        cachedSlice("flavors", { clusterCachedResource: { path, name: "flavors" } }),
        alice,
      );
    const refused = (path: string) =>
      `clustercachedresourceendpointslices.cache.kcp.io "flavors" is forbidden: unable to create ClusterCachedResourceEndpointSlice: no permission to bind to ClusterCachedResource ${path}:flavors`;
    for (const path of ["root:provider", provider.cluster, "root:missing"])
      expect(outcome(await make(path)), path).to.deep.equal([403, "Forbidden", refused(path)]);
    const rules = [{ apiGroups: ["cache.kcp.io"], resources: ["clustercachedresources"], verbs: ["bind"] }];
    await provider.create(ROLES, {
      apiVersion: `${GROUP}/v1`,
      kind: "ClusterRole",
      metadata: { name: "binds" },
      rules,
    });
    const subject = { apiGroup: GROUP, kind: "User", name: "alice" };
    await bind(server, provider.cluster, { name: "binds", role: "binds", subject });
    expect((await make("root:provider")).status).to.equal(201);
    const made = await thief.slice((now) => stateOf(now, "ResourceValid") !== undefined);
    expect(stateOf(made, "ResourceValid")).to.equal("True");
  });

  it("is not led to another workspace by an update without the right to bind there", async () => {
    await provider.publish();
    const thief = new CachedProvider(server, await makeWorkspace(server, "thief"));
    await grant(server, thief.cluster, { user: "alice", verbs: ["*"] });
    const at = `/clusters/${thief.cluster}${CACHED_SLICES}` as const;
    const own = cachedSlice("own") as Body;
    const headers = { "content-type": "application/merge-patch+json" };
    const patch = (name: string, spec: unknown) => server.send(`PATCH ${at}/${name}`, { spec }, { ...alice, headers });
    for (const made of [{ ...own, metadata: { name: "empty" }, spec: undefined }, own])
      expect((await server.send(`POST ${at}`, made, alice)).status).to.equal(201);
    expect((await patch("own", null)).status).to.equal(200);
    const clusterCachedResource = { path: provider.cluster, name: "flavors" };
    for (const name of ["empty", "own"]) {
      const answer = await patch(name, { ...own["spec"], clusterCachedResource });
      expect(outcome(answer), name).to.deep.equal([
        403,
        "Forbidden",
        `clustercachedresourceendpointslices.cache.kcp.io "${name}" is forbidden: unable to update ClusterCachedResourceEndpointSlice: no permission to bind to ClusterCachedResource ${provider.cluster}:flavors`,
      ]);
      expect((await patch(name, own["spec"])).status, name).to.equal(200);
    }
  });

  it("shows no other resource whose name ends in that of the cached one", async () => {
    const group = "flavors.cloud.example.dev";
    const names = { plural: "prices", singular: "price", kind: "Price", listKind: "PriceList" };
    const version = { name: "v1", served: true, storage: true, schema: { type: "object" } };
    await provider.publish();
    await provider.create("/apis/apis.kcp.io/v1alpha1/apiresourceschemas", {
      apiVersion: "apis.kcp.io/v1alpha1",
      kind: "APIResourceSchema",
      metadata: { name: `v1.prices.${group}` },
      spec: { group, scope: "Cluster", names, versions: [version] },
    });
    const { cluster } = provider;
    const at = (of: string) => `/services/replication/${cluster}/flavors/clusters/*/apis/${of}/v1` as const;
    const isServed = (code: number) =>
      untilAnswer(
        () => server.get(at("cloud.example.dev"), root),
        ({ status }) => status === code,
      );
    await isServed(200);
    const [flavors] = (await provider.get("/apis/apis.kcp.io/v1alpha2/apiexports/compute")).body.spec.resources;
    const resources = [{ ...flavors, schema: `v1.prices.${group}` }];
    await provider.patch("/apis/apis.kcp.io/v1alpha2/apiexports/compute", { spec: { resources } });
    await isServed(404);
    expect((await server.get(at(group), root)).status).to.equal(404);
  });

  it("serves each version of the schema as the provider's workspace does", async () => {
    const names = { plural: "flavors", singular: "flavor", kind: "Flavor", listKind: "FlavorList" };
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1" }));
    const spec = { group: "cloud.example.dev", scope: "Cluster", names };
    await provider.patch("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/flavors.cloud.example.dev", {
      spec: { versions: versions.map((version) => ({ ...version, schema: { openAPIV3Schema: schema } })) },
    });
    await provider.create("/apis/apis.kcp.io/v1alpha1/apiresourceschemas", {
      apiVersion: "apis.kcp.io/v1alpha1",
      kind: "APIResourceSchema",
      metadata: { name: "both.flavors.cloud.example.dev" },
      spec: {
        ...spec,
        conversion: { strategy: "None" },
        versions: versions.map((version) => ({ ...version, schema })),
      },
    });
    await provider.create(FLAVORS, flavor("small"));
    await provider.publish();
    const [{ storage }] = (await provider.get("/apis/apis.kcp.io/v1alpha2/apiexports/compute")).body.spec.resources;
    const resource = { group: "cloud.example.dev", name: "flavors", schema: "both.flavors.cloud.example.dev", storage };
    await provider.patch("/apis/apis.kcp.io/v1alpha2/apiexports/compute", { spec: { resources: [resource] } });
    const shop = new ClusterClient(server, await provider.consumer("shop"));
    for (const version of ["v1", "v2"]) {
      const at = FLAVORS.replace("v1", version);
      const { body } = await shop.until(at, ({ status }) => status === 200);
      expect(body.items.map((one: Body) => [one.apiVersion, one.metadata.name])).to.deep.equal([
        [`cloud.example.dev/${version}`, "small"],
      ]);
      expect((await shop.get(`${at}/small`)).body.apiVersion).to.equal(`cloud.example.dev/${version}`);
    }
  });

  it("ends its view with its ClusterCachedResource", async () => {
    await provider.create(FLAVORS, flavor("small"));
    await provider.publish();
    const shop = await provider.consumer("shop");
    await using watch = await server.watch(`/clusters/${shop}${FLAVORS}?watch=true`, root);
    expect(await watch.take(1)).to.deep.equal(["ADDED small"]);
    await provider.delete(`${CACHED}/flavors`);
    const { status } = await provider.slice((now) => now.status?.endpoints === undefined);
    expect(stateOf({ status }, "ResourceValid")).to.match(/^False ClusterCachedResourceNotFound: /);
    await watch.until(({ type }) => type === "ERROR");
    const gone = await server.get(`/clusters/${shop}${FLAVORS}`, root);
    expect([gone.status, gone.body.message]).to.deep.equal([
      500,
      "Internal error occurred: error resolving resource flavors.cloud.example.dev; please contact APIExport owner to resolve",
    ]);
  });
});
