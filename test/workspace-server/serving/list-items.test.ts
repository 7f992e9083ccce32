// Kind and apiVersion of list items: as in Kubernetes, lists of built-in kinds say them once, for all items.
import { expect } from "chai";
import { parse } from "yaml";
import type { Answer } from "../../_support/plain.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LABELLED = `${MAPS}?labelSelector=is%3Done`;
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const WIDGETS = "/apis/example.dev/v1/namespaces/default/widgets";
const OF_META = "g=meta.k8s.io;v=v1";
const root = { user: "root" };
const accepting = (accept: string) => ({ ...root, headers: { accept } });

const EVENT = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "e", namespace: "default" },
  involvedObject: { kind: "ConfigMap", namespace: "default", name: "one" },
  reason: "Tested",
  type: "Normal",
};

/** Returns the types of a list and of its items. */
function typesOf({ status, text, body }: Answer): unknown {
  expect(status, text).to.equal(200);
  expect(body.items, text).to.not.be.empty;
  return [body.apiVersion, body.kind, ...new Set(body.items.map(typeOf))];
}
const typeOf = ({ apiVersion, kind }: Body): string | undefined =>
  apiVersion === undefined && kind === undefined ? undefined : `${apiVersion} ${kind}`;

describe("items of lists", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let cluster = "";
  let client: ClusterClient;

  before(async () => {
    server = await startWorkspaces();
    cluster = await makeWorkspace(server, "listed");
    client = new ClusterClient(server, cluster);
    await client.widgets();
    await client.create(WIDGETS, { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "w" }, spec: {} });
    for (const name of ["one", "two"]) await client.configMap(name, { labels: { is: name } });
    await client.create("/api/v1/namespaces/default/events", EVENT);
  });
  after(() => server[Symbol.asyncDispose]());

  it("of built-in kinds have no kind and no apiVersion", async () => {
    expect(typesOf(await client.get(MAPS))).to.deep.equal(["v1", "ConfigMapList", undefined]);
    expect(typesOf(await client.get("/api/v1/namespaces"))).to.deep.equal(["v1", "NamespaceList", undefined]);
    expect(typesOf(await client.get(CRDS))).to.deep.equal([
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinitionList",
      undefined,
    ]);
    expect(typesOf(await client.get(EVENTS))).to.deep.equal(["events.k8s.io/v1", "EventList", undefined]);
    expect(typesOf(await server.get(`/clusters/*${ROLES}`, root))).to.deep.equal([
      "rbac.authorization.k8s.io/v1",
      "ClusterRoleList",
      undefined,
    ]);
    const yaml = await server.get(`/clusters/${cluster}${MAPS}`, accepting("application/yaml"));
    expect(typesOf({ ...yaml, body: parse(yaml.text) })).to.deep.equal(["v1", "ConfigMapList", undefined]);
  });

  it("of built-in kinds are otherwise the objects", async () => {
    const { apiVersion, kind, ...rest } = (await client.get(`${MAPS}/one`)).body;
    expect([apiVersion, kind]).to.deep.equal(["v1", "ConfigMap"]);
    expect((await client.get(LABELLED)).body.items).to.deep.equal([rest]);
  });

  it("of built-in kinds have no kind in lists of deleted objects either", async () => {
    await client.configMap("three", { labels: { is: "three" } });
    const { body } = await client.send("DELETE", `${MAPS}?labelSelector=is%3Dthree`);
    expect(typesOf({ status: 200, text: JSON.stringify(body), headers: {}, body })).to.deep.equal([
      "v1",
      "ConfigMapList",
      undefined,
    ]);
  });

  it("of built-in kinds have no kind in large lists either, which arrive in pieces", async () => {
    const large = await makeWorkspace(server, "large");
    const there = new ClusterClient(server, large);
    const sizes = [10, 200_000, 10, 900_000, 10, 30_000];
    for (const [n, size] of sizes.entries())
      await there.create(MAPS, { metadata: { name: `m${n}` }, data: { text: "x".repeat(size) } });
    const list = await there.get(`${MAPS}?fieldSelector=metadata.name!=kube-root-ca.crt`);
    expect(typesOf(list)).to.deep.equal(["v1", "ConfigMapList", undefined]);
    expect(list.body.items.map(({ data }: Body) => data.text.length)).to.deep.equal(sizes);
    expect(list.headers["transfer-encoding"]).to.equal("chunked");
    const { body } = await there.get(`${MAPS}?fieldSelector=metadata.name=none`);
    expect(body.items).to.deep.equal([]);
  });

  it("of kinds of definitions and of kcp's own kinds have both", async () => {
    expect(typesOf(await client.get(WIDGETS))).to.deep.equal(["example.dev/v1", "WidgetList", "example.dev/v1 Widget"]);
    const LOGICAL = "/apis/core.kcp.io/v1alpha1/logicalclusters";
    expect(typesOf(await client.get(LOGICAL))).to.deep.equal([
      "core.kcp.io/v1alpha1",
      "LogicalClusterList",
      "core.kcp.io/v1alpha1 LogicalCluster",
    ]);
    expect(typesOf(await server.get("/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces", root))).to.deep.equal([
      "tenancy.kcp.io/v1alpha1",
      "WorkspaceList",
      "tenancy.kcp.io/v1alpha1 Workspace",
    ]);
    expect(typesOf(await server.get("/clusters/root/apis/apis.kcp.io/v1alpha2/apiexports", root))).to.deep.equal([
      "apis.kcp.io/v1alpha2",
      "APIExportList",
      "apis.kcp.io/v1alpha2 APIExport",
    ]);
  });

  it("in the cache server's lists have both, since it has definitions of all kinds", async () => {
    const { body } = await server.get(`/services/cache/shards/*/clusters/*${ROLES}`, root);
    expect(new Set(body.items.map(typeOf))).to.deep.equal(new Set(["rbac.authorization.k8s.io/v1 ClusterRole"]));
  });

  it("say their kind in watch events, rows of tables and metadata", async () => {
    await using watch = await server.watch(`/clusters/${cluster}${LABELLED}&watch=true`, root);
    expect(typeOf((await watch.next()).object)).to.equal("v1 ConfigMap");
    const path = `/clusters/${cluster}${LABELLED}`;
    const table = await server.get(`${path}&includeObject=Object`, accepting(`application/json;as=Table;${OF_META}`));
    expect(typeOf(table.body.rows[0].object)).to.equal("v1 ConfigMap");
    const metadata = await server.get(path, accepting(`application/json;as=PartialObjectMetadataList;${OF_META}`));
    expect(typeOf(metadata.body.items[0])).to.equal("meta.k8s.io/v1 PartialObjectMetadata");
  });
});
