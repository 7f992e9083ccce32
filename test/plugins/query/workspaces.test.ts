// Queries over the workspaces of a server: rights of each workspace, all workspaces at once, mounted workspaces, WebSockets, and a
// view that forwards.
import { forward } from "@virtual-workspaces/forwarding";
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { queryView } from "@virtual-workspaces/query";
import { memoryStore } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Answer, outcome } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { openWatch } from "../../_support/web-socket.ts";
import { bind, makeAdmin, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";

const root = { user: "root" };
const MAPS = "/api/v1/namespaces/default/configmaps";
const ALL_MAPS = "/services/query/clusters/*/api/v1/configmaps?fieldSelector=metadata.namespace=default&search=dish";
const WIDGETS = "/apis/example.dev/v1/widgets";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const METADATA = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };

const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
const widgets = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.dev" },
  spec: {
    group: "example.dev",
    scope: "Cluster",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".size" }],
      },
    ],
  },
};

function isEstablished(crd: object): boolean {
  const { status } = crd as { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } };
  return status?.conditions?.some((one) => one.type === "Established" && one.status === "True") === true;
}

const names = ({ body }: Answer): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name);

describe("a query view over workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let cafe: string;
  let bar: string;
  const running = new AsyncDisposableStack();

  before(async () => {
    const own = loopback();
    const { upstream, identity } = own;
    const maps = forward({ resource: ConfigMap, upstream, identity });
    const forwarded = defineVirtualWorkspace({
      name: "forwarded",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [ConfigMap.serve(maps)],
      setup: () => maps,
    });
    server = running.use(
      await startWorkspaces(memoryStore(), {
        loopback: own,
        virtualWorkspaces: [
          queryView({ over: () => own.workspaces, authorizeEvery: 200 }),
          forwarded,
          queryView({ name: "queried", over: forwarded }),
        ],
      }),
    );
    cafe = await makeWorkspace(server, "cafe");
    bar = await makeWorkspace(server, "bar");
    await makeAdmin(server, cafe, "alice");
    for (const [cluster, name] of [
      [cafe, "dish-soup"],
      [cafe, "dish-cake"],
      [bar, "dish-nuts"],
    ] as const)
      await post(cluster, MAPS, { kind: "ConfigMap", apiVersion: "v1", metadata: { name } });
    await server.send(`POST /clusters/${cafe}${CRDS}`, widgets, root);
    await using established = await server.watch(`/clusters/${cafe}${CRDS}?watch=true`, root);
    await established.until(({ object }) => isEstablished(object));
    for (const [name, size] of [
      ["small", 1],
      ["large", 9],
      ["middle", 5],
    ] as const)
      await post(cafe, WIDGETS, { kind: "Widget", apiVersion: "example.dev/v1", metadata: { name }, size });
  });
  after(() => running[Symbol.asyncDispose]());

  async function post(cluster: string, path: string, body: object): Promise<void> {
    const made = await server.send(`POST /clusters/${cluster}${path}`, body, root);
    expect(made.status, made.text).to.equal(201);
  }

  it("sorts built-in and custom kinds by path and by name of the workspace", async () => {
    expect(names(await server.get(`/services/query/clusters/root:cafe${MAPS}?sortBy=-Name&search=dish`))).to.deep.equal(
      ["dish-soup", "dish-cake"],
    );
    const sizes = await server.get(`/services/query/clusters/${cafe}${WIDGETS}?sortBy=-Size&limit=2&countBy=Size`);
    expect(names(sizes)).to.deep.equal(["large", "middle"]);
    expect(sizes.body.metadata.query.total).to.equal(3);
  });

  it("is for callers whom the workspace itself allows the list", async () => {
    const denied = await server.get(`/services/query/clusters/root:bar${MAPS}?sortBy=Name`);
    expect([denied.status, denied.body.reason]).to.deep.equal([403, "Forbidden"]);
    expect(outcome(denied)).to.deep.equal(outcome(await server.get(`/clusters/root:bar${MAPS}?sortBy=Name`)));
    expect(
      (await server.get(`/services/query/clusters/root:cafe${MAPS}?sortBy=Name`, { user: "bob" })).status,
    ).to.equal(403);
    const anonymous = await fetch(`${server.url}${ALL_MAPS}`);
    expect([anonymous.status, ((await anonymous.json()) as { message: string }).message]).to.deep.equal([
      403,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" at the cluster scope: log in to list objects of all workspaces',
    ]);
  });

  it("lists all workspaces in which the caller may list, and follows rights", async () => {
    expect(names(await server.get(`${ALL_MAPS}&sortBy=Name`, root))).to.deep.equal([
      "dish-cake",
      "dish-nuts",
      "dish-soup",
    ]);
    const mine = await server.get(`${ALL_MAPS}&sortBy=Name&countBy=Cluster`);
    expect(names(mine)).to.deep.equal(["dish-cake", "dish-soup"]);
    expect(mine.body.metadata.query).to.deep.include({
      total: 2,
      offset: 0,
      counts: { Cluster: { values: [{ value: cafe, count: 2 }], others: 0 } },
    });
    const bob = await server.get(`${ALL_MAPS}&sortBy=Name`, { user: "bob" });
    expect(bob.body.metadata.query.total).to.equal(0);
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "carol" };
    await bind(server, bar, { name: "carol", role: "cluster-admin", subject });
    await bind(server, bar, { name: "carol-access", role: "system:kcp:workspace:access", subject });
    expect(names(await server.get(`${ALL_MAPS}&sortBy=Name`, { user: "alice" }))).to.deep.equal([
      "dish-cake",
      "dish-soup",
    ]);
  });

  it("lists the metadata of a custom kind of all workspaces in which the caller may list it", async () => {
    const all = `/services/query/clusters/*${WIDGETS}?sortBy=-Name&limit=2`;
    expect(names(await server.get(all, { headers: METADATA }))).to.deep.equal(["small", "middle"]);
    const bob = await server.get(all, { headers: METADATA, user: "bob" });
    expect(bob.body.metadata.query).to.include({ total: 0, offset: 0 });
  });

  it("follows a window over a WebSocket", async () => {
    const path = `/services/query/clusters/${cafe}${WIDGETS}?sortBy=Size&limit=2&watch=true`;
    const { body } = await server.get(path.replace("&watch=true", ""));
    using watch = await openWatch(server.url, `${path}&resourceVersion=${body.metadata.resourceVersion}`);
    await post(cafe, WIDGETS, { kind: "Widget", apiVersion: "example.dev/v1", metadata: { name: "tiny" }, size: 0 });
    const [left, entered] = [JSON.parse(await watch.next()), JSON.parse(await watch.next())];
    expect([left.type, left.object.metadata.name, left.query]).to.deep.equal(["DELETED", "middle", { total: 4 }]);
    expect([entered.type, entered.object.metadata.name, entered.query.position]).to.deep.equal(["ADDED", "tiny", 0]);
  });

  it("queries a view that forwards each caller's requests", async () => {
    const path = `/services/queried/clusters/${cafe}/api/v1/configmaps?sortBy=-Name&search=dish`;
    expect(names(await server.get(path))).to.deep.equal(["dish-soup", "dish-cake"]);
    expect((await server.get(path, { user: "bob" })).status).to.equal(403);
    // Queries with different selectors share the stream of the source.
    expect(names(await server.get(`${path}&labelSelector=none`))).to.deep.equal([]);
    expect(names(await server.get(`${path}&fieldSelector=metadata.name=dish-cake`))).to.deep.equal(["dish-cake"]);
    await using watch = await server.watch(`${path}&limit=1&watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED dish-soup"]);
    await post(cafe, MAPS, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "dish-tea" } });
    expect(await watch.take(2)).to.deep.equal(["DELETED dish-soup", "ADDED dish-tea"]);
  });

  it("needs the right to watch in a workspace for a watch of all", async () => {
    const reader = {
      metadata: { name: "lister" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }],
    };
    const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    await post(cafe, roles, { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", ...reader });
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" };
    await bind(server, cafe, { name: "bob", role: "lister", subject });
    await bind(server, cafe, { name: "bob-access", role: "system:kcp:workspace:access", subject });
    const list = await untilAnswer(
      () => server.get(`${ALL_MAPS}&sortBy=Name`, { user: "bob" }),
      ({ body }) => body.metadata.query.total > 0,
    );
    expect(names(list)).to.deep.equal(["dish-cake", "dish-soup", "dish-tea"]);
    const open = `${ALL_MAPS}&limit=2&watch=true`;
    expect(outcome(await server.get(open, { user: "bob" }))).to.deep.equal([
      403,
      "Forbidden",
      "configmaps is forbidden: in some workspaces you may list but not watch: list again from time to time, or get the verb watch there",
    ]);
    await using allowed = await server.watch(open);
    expect(await allowed.take(2)).to.deep.equal(["ADDED dish-cake", "ADDED dish-soup"]);
  });
});
