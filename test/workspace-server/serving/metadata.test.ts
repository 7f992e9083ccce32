// Metadata of all logical clusters, however their kinds are defined: the basis of garbage collectors and quotas.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Answer, outcome, type WatchEvent } from "../../_support/plain.ts";
import { binding, gadget, gadgets, paths, widget, widgetExport, widgetSchema } from "../faults/support/tree.ts";
import { define, makeWorkspace } from "../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const FORM = "g=meta.k8s.io;v=v1";
const LIST = { user: "root", headers: { accept: `application/json;as=PartialObjectMetadataList;${FORM}` } };
const WATCH = { user: "root", headers: { accept: `application/json;as=PartialObjectMetadata;${FORM}` } };
const WIDGETS = "/apis/example.dev/v1/widgets";
const ALL = `/clusters/*${WIDGETS}`;

/** Returns a definition of widgets with one version. */
function defined(version: string, scope = "Cluster"): object {
  const crd = gadgets() as Body;
  const [first] = crd.spec.versions;
  const names = { plural: "widgets", kind: "Widget" };
  const spec = { ...crd.spec, group: "example.dev", names, scope, versions: [{ ...first, name: version }] };
  return { ...crd, metadata: { name: "widgets.example.dev" }, spec };
}

const annotations = ({ metadata }: Body): string[] => [
  metadata.annotations["kcp.io/cluster"],
  metadata.annotations["kcp.io/original-api-version"],
  metadata.name,
];
const seen = ({ type, object }: WatchEvent): unknown[] => [type, ...annotations(object)];
const items = ({ body }: Answer): string[][] => body.items.map(annotations).sort();

/** Creates workspaces with their own widgets, in two versions, and two that bind those of two exports. */
async function furnish(server: Workspaces) {
  const names = ["one", "two", "provider", "consumer", "other", "customer"] as const;
  const clusters: Record<string, ClusterClient> = {};
  const called: Record<string, string> = {};
  for (const name of names) {
    called[name] = await makeWorkspace(server, name);
    clusters[name] = new ClusterClient(server, called[name]);
  }
  await define(server, called["one"] ?? "", [defined("v1")]);
  await define(server, called["two"] ?? "", [defined("v2")]);
  for (const [provider, consumer] of [
    ["provider", "consumer"],
    ["other", "customer"],
  ] as const) {
    await clusters[provider]?.create(paths.SCHEMAS, widgetSchema());
    await clusters[provider]?.create(paths.EXPORTS, widgetExport("widgets"));
    await clusters[provider]?.until(`${paths.EXPORTS}/widgets`, ({ body }) => body.status?.identityHash !== undefined);
    await clusters[consumer]?.create(paths.BINDINGS, binding("widgets", `root:${provider}`));
    await clusters[consumer]?.until(`${paths.BINDINGS}/widgets`, ({ body }) => body.status?.phase === "Bound");
  }
  return { clusters: clusters as Record<(typeof names)[number], ClusterClient>, called };
}

describe("metadata over /clusters/*", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let clusters: Awaited<ReturnType<typeof furnish>>["clusters"];
  let called: Record<string, string>;
  const store = memoryStore();

  before(async () => {
    server = await startWorkspaces(store);
    ({ clusters, called } = await furnish(server));
  });

  after(async () => {
    await server[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  it("shows objects of all definitions and identities, in any version, as they come and go", async () => {
    const none = await server.get(ALL, LIST);
    expect([none.status, none.body.items]).to.deep.equal([200, []]);
    const from = `resourceVersion=${none.body.metadata.resourceVersion}`;
    await using watch = await server.watch(`${ALL}?watch=1&${from}`, WATCH);
    const second = { ...widget("x"), apiVersion: "example.dev/v2" };
    const { one, two, consumer, customer } = clusters;
    await one.create(WIDGETS, widget("x"));
    await two.create("/apis/example.dev/v2/widgets", second);
    await consumer.create(WIDGETS, widget("x"));
    await customer.create(WIDGETS, widget("x"));
    const all = [
      [called["one"], "example.dev/v1", "x"],
      [called["two"], "example.dev/v2", "x"],
      [called["consumer"], "example.dev/v1", "x"],
      [called["customer"], "example.dev/v1", "x"],
    ];
    for (const each of all) expect(seen(await watch.next())).to.deep.equal(["ADDED", ...each]);
    for (const version of ["v1", "v2", "v9"]) {
      const list = await server.get(`/clusters/*/apis/example.dev/${version}/widgets`, LIST);
      expect([list.body.kind, list.body.apiVersion]).to.deep.equal(["PartialObjectMetadataList", "meta.k8s.io/v1"]);
      expect(items(list)).to.deep.equal([...all].sort());
      for (const item of list.body.items) expect(item).to.have.all.keys("apiVersion", "kind", "metadata");
    }
    await consumer.patch(`${WIDGETS}/x`, { metadata: { labels: { is: "it" } } });
    await customer.delete(`${WIDGETS}/x`);
    expect(seen(await watch.next())).to.deep.equal(["MODIFIED", ...(all[2] ?? [])]);
    expect(seen(await watch.next())).to.deep.equal(["DELETED", ...(all[3] ?? [])]);
    expect(items(await server.get(`${ALL}?labelSelector=is=it`, LIST))).to.deep.equal([all[2]]);
    // Resource versions of one logical cluster are valid for all.
    const here = await one.get(WIDGETS);
    await one.patch(`${WIDGETS}/x`, { metadata: { labels: { is: "it" } } });
    await using resumed = await server.watch(
      `${ALL}?watch=1&labelSelector=is=it&resourceVersion=${here.body.metadata.resourceVersion}`,
      WATCH,
    );
    expect(seen(await resumed.next())).to.deep.equal(["ADDED", ...(all[0] ?? [])]);
    await using initial = await server.watch(
      `${ALL}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      WATCH,
    );
    const told = await initial.until(({ type }) => type === "BOOKMARK");
    expect(told.slice(0, -1).map(({ object }) => annotations(object))).to.have.deep.members(all.slice(0, 3));
    expect(told.at(-1)?.object.metadata.annotations).to.deep.equal({ "k8s.io/initial-events-end": "true" });
  });

  it("shows kinds that come and go in open watches, and ends these with the last kind", async () => {
    const all = "/clusters/*/apis/own.dev/v1/gadgets";
    expect((await server.get(all, LIST)).status).to.equal(404);
    const { one, two } = clusters;
    await define(server, called["one"] ?? "", [gadgets()]);
    const { body } = await server.get(all, LIST);
    await using watch = await server.watch(`${all}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, WATCH);
    await define(server, called["two"] ?? "", [gadgets()]);
    await two.create("/apis/own.dev/v1/gadgets", gadget("y"));
    expect(seen(await watch.next())).to.deep.equal(["ADDED", called["two"], "own.dev/v1", "y"]);
    await two.delete(`${paths.CRDS}/gadgets.own.dev`);
    expect(seen(await watch.next())).to.deep.equal(["DELETED", called["two"], "own.dev/v1", "y"]);
    await one.create("/apis/own.dev/v1/gadgets", gadget("z"));
    expect(seen(await watch.next())).to.deep.equal(["ADDED", called["one"], "own.dev/v1", "z"]);
    await one.delete(`${paths.CRDS}/gadgets.own.dev`);
    expect(seen(await watch.next())).to.deep.equal(["DELETED", called["one"], "own.dev/v1", "z"]);
    const { type, object } = await watch.next();
    expect([type, object.code]).to.deep.equal(["ERROR", 410]);
    expect((await server.get(all, LIST)).status).to.equal(404);
  });

  it("shows the deletion of a binding's objects", async () => {
    const { customer } = clusters;
    await customer.create(WIDGETS, widget("bound"));
    await using watch = await server.watch(`${ALL}?watch=1&fieldSelector=metadata.name=bound`, WATCH);
    expect(seen(await watch.next())).to.deep.equal(["ADDED", called["customer"], "example.dev/v1", "bound"]);
    await customer.delete(`${paths.BINDINGS}/widgets`);
    expect(seen(await watch.next())).to.deep.equal(["DELETED", called["customer"], "example.dev/v1", "bound"]);
  });

  it("drops a kind once no workspace binds it", async () => {
    const group = "bound.dev";
    const { provider, consumer } = clusters;
    const { spec, ...schema } = widgetSchema() as Body;
    await provider.create(paths.SCHEMAS, {
      ...schema,
      metadata: { name: "v1.widgets.bound.dev" },
      spec: { ...spec, group },
    });
    await provider.create(paths.EXPORTS, {
      ...widgetExport("bound"),
      metadata: { name: "bound" },
      spec: { resources: [{ group, name: "widgets", schema: "v1.widgets.bound.dev" }] },
    });
    await provider.until(`${paths.EXPORTS}/bound`, ({ body }) => body.status?.identityHash !== undefined);
    const all = "/clusters/*/apis/bound.dev/v1/widgets";
    expect((await server.get(all, LIST)).status).to.equal(404);
    const bound = {
      ...binding("bound", ""),
      spec: { reference: { export: { path: "root:provider", name: "bound" } } },
    };
    await consumer.create(paths.BINDINGS, bound);
    await consumer.until(`${paths.BINDINGS}/bound`, ({ body }) => body.status?.phase === "Bound");
    expect((await server.get(all, LIST)).status).to.equal(200);
    await consumer.delete(`${paths.BINDINGS}/bound`);
    await consumer.gone(`${paths.BINDINGS}/bound`);
    expect((await server.get(all, LIST)).status).to.equal(404);
  });

  it("has the original version, unlike a concurrent request in one logical cluster", async () => {
    const maps = "/api/v1/namespaces/default/configmaps";
    await using all = await server.watch("/clusters/*/api/v1/configmaps?watch=1&labelSelector=is=told", WATCH);
    await using one = await server.watch(`/clusters/${called["one"]}${maps}?watch=1&labelSelector=is=told`, WATCH);
    await clusters.one.configMap("told", { labels: { is: "told" } });
    const original = "kcp.io/original-api-version";
    for (const [watch, version] of [
      [all, "v1"],
      [one, undefined],
    ] as const)
      expect((await watch.next()).object.metadata.annotations?.[original]).to.equal(version);
    for (const [path, version] of [
      ["/clusters/*/api/v1/configmaps", "v1"],
      [`/clusters/${called["one"]}${maps}`, undefined],
    ] as const) {
      const { body } = await server.get(`${path}?labelSelector=is=told`, LIST);
      expect(body.items[0].metadata.annotations?.[original]).to.equal(version);
    }
    // Merged resources do not exist in a single logical cluster.
    for (const path of [`${called["provider"]}${WIDGETS}`, `${called["one"]}/apis/example.dev/v9/widgets`])
      expect((await server.get(`/clusters/${path}`, LIST)).status, path).to.equal(404);
  });

  it("shows kcp's own kinds in any version, without an identity, with the stored version", async () => {
    const original = async (path: string): Promise<unknown> => {
      const { status, body } = await server.get(`/clusters/*${path}`, LIST);
      expect(status, path).to.equal(200);
      expect(body.items, path).not.to.deep.equal([]);
      return [...new Set(body.items.map((item: Body) => annotations(item)[1]))];
    };
    for (const version of ["v1alpha1", "v1alpha2", "v7"])
      expect(await original(`/apis/apis.kcp.io/${version}/apibindings`)).to.deep.equal(["apis.kcp.io/v1alpha2"]);
    expect(await original("/apis/tenancy.kcp.io/v1alpha1/workspaces")).to.deep.equal(["tenancy.kcp.io/v1alpha1"]);
    expect(await original("/apis/tenancy.kcp.io/v3/workspacetypes")).to.deep.equal(["tenancy.kcp.io/v1alpha1"]);
    expect(await original("/api/v1/configmaps")).to.deep.equal(["v1"]);
    const { body } = await server.get(`/clusters/${called["one"]}${WIDGETS}`, LIST);
    expect(body.items[0].metadata.annotations).to.deep.equal({ "kcp.io/cluster": called["one"] });
    expect((await server.get("/clusters/*/api/v7/configmaps", LIST)).status).to.equal(404);
  });

  it("keeps kcp's own kinds apart from custom ones of the same name", async () => {
    const names = { plural: "shards", kind: "Shard" };
    const { metadata, spec, ...about } = defined("v1alpha1") as Body;
    const crd = { ...about, metadata: { ...metadata, name: "shards.core.kcp.io" } };
    await define(server, called["one"] ?? "", [{ ...crd, spec: { ...spec, group: "core.kcp.io", names } }]);
    const shards = "/apis/core.kcp.io/v1alpha1/shards";
    const mine = { apiVersion: "core.kcp.io/v1alpha1", kind: "Shard", metadata: { name: "mine" } };
    await clusters.one.create(shards, mine);
    expect(await clusters.one.names(shards)).to.deep.equal(["mine"]);
    expect(items(await server.get(`/clusters/*${shards}`, LIST))).to.deep.equal([
      ["root", "core.kcp.io/v1alpha1", "root"],
    ]);
  });

  it("serves only metadata, and only to system:masters", async () => {
    for (const user of ["admin", "alice"])
      for (const call of [ALL, `${ALL}?watch=1`, "/clusters/*/apis/nothing.dev/v1/things"]) {
        const { status, body } = await server.get(call, { ...LIST, user });
        expect([status, body.message.endsWith("at the cluster scope: access denied")]).to.deep.equal([403, true]);
      }
    for (const accept of ["application/json", `application/json;as=Table;${FORM}`, "*/*"]) {
      const as = { user: "root", headers: { accept } };
      for (const path of [ALL, `${ALL}?watch=1`]) expect((await server.get(path, as)).status, accept).to.equal(404);
    }
    const both = { user: "root", headers: { accept: `application/json, ${LIST.headers.accept}` } };
    expect((await server.get(ALL, both)).status).to.equal(406);
    expect((await server.get("/clusters/*/apis/nothing.dev/v1/things", LIST)).status).to.equal(404);
    expect((await server.get(`/clusters/*/apis/example.dev/v1/namespaces/a/widgets`, LIST)).status).to.equal(404);
    for (const [call, verb] of [
      [`GET ${ALL}/x`, "get"],
      [`POST ${ALL}`, "create"],
      [`DELETE ${ALL}`, "deletecollection"],
      [`GET ${ALL}/x/status`, "get"],
    ] as const)
      expect(outcome(await server.send(call, undefined, LIST))).to.deep.equal([
        405,
        "MethodNotAllowed",
        `${verb} is not supported on resources of kind "widgets.example.dev" in the \`*\` logical cluster`,
      ]);
    const { body } = await server.get("/clusters/*/apis", { user: "root" });
    expect(body.groups.map(({ name }: Body) => name)).not.to.include("example.dev");
  });

  it("resumes watches after a restart of the server", async () => {
    const { body } = await server.get(ALL, LIST);
    await clusters.one.create(WIDGETS, widget("before"));
    await server[Symbol.asyncDispose]();
    server = await startWorkspaces(store);
    const from = `resourceVersion=${body.metadata.resourceVersion}`;
    await using watch = await server.watch(`${ALL}?watch=1&${from}`, WATCH);
    expect(seen(await watch.next())).to.deep.equal(["ADDED", called["one"], "example.dev/v1", "before"]);
    await new ClusterClient(server, called["one"]).create(WIDGETS, widget("after"));
    expect(seen(await watch.next())).to.deep.equal(["ADDED", called["one"], "example.dev/v1", "after"]);
  });
});
