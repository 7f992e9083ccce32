// ClusterCachedResources: their identity, conditions, counts and deletion, and which resources they may name.
import { identityHash } from "@virtual-workspaces/kcp/names";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { bind, grant, makeWorkspace } from "../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { CACHED, CachedProvider, cachedResource, FLAVORS, flavor, stateOf } from "./support/cached.ts";

const root = { user: "root" };
const SECRETS = "/api/v1/namespaces/kcp-system/secrets";

describe("ClusterCachedResources", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: CachedProvider;

  beforeEach(async () => {
    server = await startWorkspaces(undefined, { cachedResources: true });
    provider = await CachedProvider.make(server);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("become Ready with an identity of their own, annotations and a finalizer", async () => {
    const made = await provider.cache();
    expect(made.status, made.text).to.equal(201);
    const { metadata, spec, status } = await provider.cached(({ status: now }) => now?.phase === "Ready");
    expect(metadata.finalizers).to.deep.equal(["cache.kcp.io/clustercachedresource"]);
    expect(metadata.annotations).to.include({
      "cache.kcp.io/resource-kind": "Flavor",
      "cache.kcp.io/resource-scope": "Cluster",
      "kcp.io/path": "root:provider",
    });
    expect(spec.identity.secretRef).to.deep.equal({ namespace: "kcp-system", name: "flavors" });
    const secret = (await provider.get(`${SECRETS}/flavors`)).body;
    expect(status.identityHash).to.equal(identityHash(Buffer.from(secret.data.key, "base64")));
    expect(status.resourceCounts).to.deep.equal({ cache: 0, local: 0 });
    for (const type of ["ResourceValid", "IdentityValid", "ReplicationStarted"])
      expect(stateOf({ status }, type), type).to.equal("True");
  });

  it("count the selected objects while these come, change and go", async () => {
    await provider.create(FLAVORS, flavor("a", { public: "true" }));
    await provider.create(FLAVORS, flavor("b"));
    const labelSelector = { matchExpressions: [{ key: "public", operator: "In", values: ["true"] }] };
    await provider.cache("flavors", { labelSelector });
    const counted = (count: number) =>
      provider.cached(({ status }) => status?.resourceCounts?.local === count && status.resourceCounts.cache === count);
    await counted(1);
    await provider.patch(`${FLAVORS}/b`, { metadata: { labels: { public: "true" } } });
    await counted(2);
    await provider.delete(`${FLAVORS}/a`);
    await counted(1);
    await provider.patch(`${CACHED}/flavors`, { spec: { labelSelector: null } });
    await provider.create(FLAVORS, flavor("c"));
    await counted(2);
  });

  it("use the identity of a Secret, and report another key than at first", async () => {
    const data = { key: Buffer.from("mine").toString("base64") };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "mine" }, data };
    await provider.create("/api/v1/namespaces/default/secrets", secret);
    await provider.cache("flavors", { identity: { secretRef: { namespace: "default", name: "mine" } } });
    const ready = await provider.cached(({ status }) => status?.phase === "Ready");
    expect(ready.status.identityHash).to.equal(identityHash(Buffer.from("mine")));
    await provider.patch("/api/v1/namespaces/default/secrets/mine", {
      data: { key: Buffer.from("other").toString("base64") },
    });
    const { status } = await provider.cached((now) => stateOf(now, "IdentityValid") !== "True");
    expect(stateOf({ status }, "IdentityValid")).to.match(/^False IdentityVerificationFailed: hash mismatch: /);
    expect(status.identityHash).to.equal(ready.status.identityHash);
  });

  it("report a resource that the workspace does not store, until it does", async () => {
    await provider.cache("later", { resource: "sizes" });
    const found = await provider.cached((now) => stateOf(now, "ResourceValid") !== undefined, "later");
    expect(stateOf(found, "ResourceValid")).to.equal(
      "False NoResources: The workspace does not store version v1 of sizes.cloud.example.dev: create its CustomResourceDefinition, or bind its APIExport",
    );
    expect(found.status.phase).to.equal("Initializing");
    const names = { plural: "sizes", singular: "size", kind: "Size", listKind: "SizeList" };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
    await provider.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "sizes.cloud.example.dev" },
      spec: { group: "cloud.example.dev", names, scope: "Cluster", versions: [version] },
    });
    await provider.cached(({ status }) => status?.phase === "Ready", "later");
  });

  it("report a namespaced resource that was defined after them", async () => {
    await provider.cache("later", { resource: "places" });
    const names = { plural: "places", singular: "place", kind: "Place", listKind: "PlaceList" };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
    await provider.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "places.cloud.example.dev" },
      spec: { group: "cloud.example.dev", names, scope: "Namespaced", versions: [version] },
    });
    const found = await provider.cached((now) => /Scoped/.test(stateOf(now, "ResourceValid") ?? ""), "later");
    expect(stateOf(found, "ResourceValid")).to.equal(
      "False ResourceNotClusterScoped: Resource places.cloud.example.dev is not cluster-scoped",
    );
  });

  it("go through kcp's phases when they are deleted", async () => {
    await provider.create(FLAVORS, flavor("a"));
    await provider.cache();
    const { metadata } = await provider.cached(({ status }) => status?.resourceCounts?.cache === 1);
    const at = `/clusters/${provider.cluster}${CACHED}?watch=true&resourceVersion=${metadata.resourceVersion}` as const;
    await using watch = await server.watch(at, root);
    await provider.delete(`${CACHED}/flavors`);
    const events = await watch.until(({ type }) => type === "DELETED");
    const seen = events.map(({ type, object }) => {
      const { status } = object as Body;
      return [type, status.phase, status.resourceCounts.cache, stateOf({ status }, "ResourceValid")];
    });
    const deleting = "False Deleting: Published resource deleting";
    expect(seen).to.deep.equal([
      ["MODIFIED", "Ready", 1, "True"],
      ["MODIFIED", "Deleting", 1, deleting],
      ["MODIFIED", "Deleted", 0, deleting],
      ["DELETED", "Deleted", 0, deleting],
    ]);
    expect((await provider.get(FLAVORS)).body.items).to.have.length(1);
  });

  it("are rejected for namespaced, built-in and already cached resources", async () => {
    const why = async (name: string, spec: object): Promise<unknown> => {
      const answer = await provider.cache(name, spec);
      return [answer.status, answer.body.message];
    };
    const at = (name: string) => `clustercachedresources.cache.kcp.io "${name}" is forbidden: spec: Invalid value: `;
    expect(await why("limits", { resource: "limits" })).to.deep.equal([
      403,
      `${at("limits")}"limits.cloud.example.dev": Resource referenced in ClusterCachedResource must be cluster-scoped`,
    ]);
    const builtIn = "built-in resources cannot be cached: use one of a CustomResourceDefinition or APIBinding";
    expect(await why("namespaces", { group: "", resource: "namespaces" })).to.deep.equal([
      403,
      `${at("namespaces")}"namespaces": ${builtIn}`,
    ]);
    const partitions = { group: "topology.kcp.io", version: "v1alpha1", resource: "partitions" };
    expect(await why("partitions", partitions)).to.deep.equal([
      403,
      `${at("partitions")}"partitions.topology.kcp.io": ${builtIn}`,
    ]);
    expect((await provider.cache()).status).to.equal(201);
    await provider.cached(({ status }) => status?.phase === "Ready");
    expect(await why("again", {})).to.deep.equal([
      403,
      `${at("again")}"cloud.example.dev.v1.flavors": ClusterCachedResource with this GVR already exists in the "${provider.cluster}" workspace`,
    ]);
    expect((await provider.cache()).body.reason).to.equal("AlreadyExists");
    expect(await why("bad", { labelSelector: { matchExpressions: [{ key: "a", operator: "Near" }] } })).to.satisfy(
      ([status, message]: [number, string]) =>
        status === 403 && message.endsWith('"Near" is not a valid label selector operator'),
    );
  });

  it("are rejected for built-in resources, also with a CustomResourceDefinition of that name", async () => {
    const names = { plural: "workspaces", singular: "workspace", kind: "Workspace", listKind: "WorkspaceList" };
    const version = { name: "v1alpha1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
    await provider.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "workspaces.tenancy.kcp.io" },
      spec: { group: "tenancy.kcp.io", names, scope: "Cluster", versions: [version] },
    });
    const made = await provider.cache("workspaces", {
      group: "tenancy.kcp.io",
      version: "v1alpha1",
      resource: "workspaces",
    });
    expect([made.status, made.body.message]).to.deep.equal([
      403,
      'clustercachedresources.cache.kcp.io "workspaces" is forbidden: spec: Invalid value: "workspaces.tenancy.kcp.io": built-in resources cannot be cached: use one of a CustomResourceDefinition or APIBinding',
    ]);
  });

  it("obey the same rules when their resource changes", async () => {
    await provider.cache();
    await provider.cached(({ status }) => status?.phase === "Ready");
    const changed = await provider.send("PATCH", `${CACHED}/flavors`, { spec: { resource: "limits" } });
    expect(outcome(changed).slice(0, 2)).to.deep.equal([403, "Forbidden"]);
  });

  it("are rejected for users who may not list the resource", async () => {
    const { cluster } = provider;
    const rules = [{ apiGroups: ["cache.kcp.io"], resources: ["*"], verbs: ["*"] }];
    await provider.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "caches" },
      rules,
    });
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" };
    await bind(server, cluster, { name: "caches", role: "caches", subject });
    await bind(server, cluster, { name: "access", role: "system:kcp:workspace:access", subject });
    const spec = { group: "cloud.example.dev", version: "v1", resource: "flavors" };
    const make = () =>
      server.send(`POST /clusters/${cluster}${CACHED}`, cachedResource("mine", spec), { user: "alice" });
    expect(outcome(await make())).to.deep.equal([
      403,
      "Forbidden",
      'clustercachedresources.cache.kcp.io "mine" is forbidden: unable to create ClusterCachedResource: no permission to list flavors.cloud.example.dev',
    ]);
    await provider.cache("theirs", { labelSelector: { matchLabels: { public: "true" } } });
    const headers = { "content-type": "application/merge-patch+json" };
    const widen = () =>
      server.send(
        `PATCH /clusters/${cluster}${CACHED}/theirs`,
        { spec: { labelSelector: null } },
        { user: "alice", headers },
      );
    expect(outcome(await widen())).to.deep.equal([
      403,
      "Forbidden",
      'clustercachedresources.cache.kcp.io "theirs" is forbidden: unable to update ClusterCachedResource: no permission to list flavors.cloud.example.dev',
    ]);
    await grant(server, cluster, { user: "alice", verbs: ["list"] });
    expect((await widen()).status).to.equal(200);
    await provider.delete(`${CACHED}/theirs`);
    await provider.gone(`${CACHED}/theirs`);
    expect((await make()).status).to.equal(201);
  });

  it("are cached by kcp's cache server, with their slices", async () => {
    await provider.cache();
    const at = "/services/cache/shards/root/clusters/*/apis/cache.kcp.io/v1alpha1/clustercachedresources" as const;
    const found = await server.get(at, root);
    expect(found.body.items.map(({ metadata }: Body) => metadata.annotations["kcp.io/shard"])).to.deep.equal(["root"]);
  });
});

describe("the kinds of cache.kcp.io without the feature gate", function () {
  this.timeout(60_000);

  it("are stored without effect where they are bound, and not bound in root", async () => {
    await using server = await startWorkspaces();
    const provider = await CachedProvider.make(server);
    expect((await provider.get(CACHED)).status).to.equal(404);
    await provider.bind("cache.kcp.io", "root");
    await provider.cache();
    const cluster = await makeWorkspace(server, "other");
    // Another object of a controller shows that time has passed.
    const other = new ClusterClient(server, cluster);
    await other.until("/api/v1/namespaces/default/serviceaccounts/default", ({ status }) => status === 200);
    const { metadata, status } = (await provider.get(`${CACHED}/flavors`)).body;
    expect([metadata.finalizers, status]).to.deep.equal([undefined, undefined]);
    expect((await server.get(`/clusters/root${CACHED}`, root)).status).to.equal(404);
  });

  it("are served in every workspace with it, and keep their objects", async () => {
    const store = memoryStore();
    {
      await using server = await startWorkspaces(store);
      const provider = await CachedProvider.make(server);
      await provider.bind("cache.kcp.io", "root");
      await provider.cache();
    }
    await using server = await startWorkspaces(store, { cachedResources: true });
    const provider = new CachedProvider(server, "root:provider");
    await provider.cached(({ status }) => status?.phase === "Ready");
    const cluster = await makeWorkspace(server, "other");
    for (const place of ["root", cluster]) {
      const answer = await server.get(`/clusters/${place}${CACHED}`, root);
      expect(answer.body.items, answer.text).to.deep.equal([]);
    }
    const everywhere = await server.get(`/clusters/*${CACHED}`, root);
    expect(everywhere.body.items.map(({ metadata }: Body) => metadata.name)).to.deep.equal(["flavors"]);
    const discovered = await server.get("/clusters/root/apis/cache.kcp.io/v1alpha1", root);
    expect(
      discovered.body.resources.map(({ name }: Body) => name).filter((name: string) => !name.includes("/")),
    ).to.have.members(["clustercachedresourceendpointslices", "clustercachedresources"]);
  });

  it("do not hold up the deletion of their workspace", async () => {
    await using server = await startWorkspaces(undefined, { cachedResources: true });
    const provider = await CachedProvider.make(server);
    await provider.cache();
    await provider.cached(({ status }) => status?.phase === "Ready");
    const parent = new ClusterClient(server);
    const workspace = "/apis/tenancy.kcp.io/v1alpha1/workspaces/provider";
    await parent.delete(workspace);
    await parent.gone(workspace);
  });
});
