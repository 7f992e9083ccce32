// Quotas of custom, bound and cluster-scoped kinds, of the whole workspace, and after deletions by others than clients.
import { defineResource } from "@virtual-workspaces/framework";
import { exportManifests } from "@virtual-workspaces/kcp";
import { lmdbStore, memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { outcome } from "../../_support/plain.ts";
import { widgets } from "../serving/widgets.ts";
import { define, makeWorkspace } from "../support/logical-clusters.ts";
import { ClusterClient, ownerOf } from "../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { type Hard, makeMap, makeNamespace, makeQuota, mapsIn, quotasIn, untilRootCa, untilUsed } from "./support.ts";

const ADMIN = { user: "admin" } as const;
const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
const QUOTES = "/apis/example.dev/v1/quotes";
const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const BINDINGS = "/apis/apis.kcp.io/v1alpha2/apibindings";

async function started(store: Store = memoryStore()): Promise<{ server: Workspaces; cluster: string }> {
  const server = await startWorkspaces(store);
  const cluster = await makeWorkspace(server, "org");
  await untilRootCa(server, cluster);
  return { server, cluster };
}

/** Creates a quota over the whole workspace. */
async function makeClusterQuota(server: Workspaces, cluster: string, hard: Hard): Promise<void> {
  await makeNamespace(server, cluster, "admin");
  const metadata = { name: "all", annotations: { "experimental.quota.kcp.io/cluster-scoped": "true" } };
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } };
  expect((await server.send(`POST ${quotasIn(cluster, "admin")}`, quota, ADMIN)).status).to.equal(201);
}

const quote = (name: string) => ({ apiVersion: "example.dev/v1", kind: "Quote", metadata: { name }, spec: {} });

describe("a quota of kinds", function () {
  this.timeout(60_000);

  it("over the whole workspace counts all namespaces and cluster-scoped kinds, in the namespace admin only", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeClusterQuota(server, cluster, { "count/configmaps": "5", "count/workspaces.tenancy.kcp.io": "1" });
    const path = `${quotasIn(cluster, "admin")}/all`;
    await untilUsed(server, path, { "count/configmaps": "3", "count/workspaces.tenancy.kcp.io": "0" });
    await makeNamespace(server, cluster, "third");
    await untilUsed(server, path, { "count/configmaps": "4", "count/workspaces.tenancy.kcp.io": "0" });
    expect((await makeMap(server, `${cluster}/third`, "a")).status).to.equal(201);
    expect((await makeMap(server, cluster, "a")).body.message).to.contain("exceeded quota: all, requested: count/");
    const make = (name: string) => {
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
      return server.send(`POST /clusters/${cluster}${WORKSPACES}`, workspace, ADMIN);
    };
    expect((await make("one")).status).to.equal(201);
    expect(outcome(await make("two"))[2]).to.equal(
      'workspaces.tenancy.kcp.io "two" is forbidden: exceeded quota: all, requested: count/workspaces.tenancy.kcp.io=1, used: count/workspaces.tenancy.kcp.io=1, limited: count/workspaces.tenancy.kcp.io=1',
    );
    // Elsewhere the annotation means nothing.
    const metadata = { name: "own", annotations: { "experimental.quota.kcp.io/cluster-scoped": "true" } };
    const own = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: { "count/configmaps": "9" } } };
    await server.send(`POST ${quotasIn(cluster, "third")}`, own, ADMIN);
    await untilUsed(server, `${quotasIn(cluster, "third")}/own`, { "count/configmaps": "2" });
  });

  it("counts a custom kind that is defined later, removed and defined again", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeQuota(server, cluster, { name: "q", hard: { "count/widgets.example.dev": "2" } });
    await untilUsed(server, `${quotasIn(cluster)}/q`, {});
    const client = new ClusterClient(server, cluster);
    const path = "/apis/example.dev/v1/namespaces/default/widgets";
    const make = (name: string) =>
      server.send(`POST /clusters/${cluster}${path}`, { ...WIDGET, metadata: { name } }, ADMIN);
    for (let round = 0; round < 3; round++) {
      await define(server, cluster, [widgets]);
      await client.until(path, ({ status }) => status === 200);
      expect((await make("a")).status).to.equal(201);
      expect((await make("b")).status).to.equal(201);
      expect((await make("c")).body.message).to.contain("used: count/widgets.example.dev=2, limited:");
      await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/widgets.example.dev": "2" });
      await client.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.dev");
      await client.until(path, ({ status }) => status === 404);
      await untilUsed(server, `${quotasIn(cluster)}/q`, {});
    }
  });

  it("counts a bound kind, also of objects that were there before", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    const provider = await makeWorkspace(server, "provider");
    const of = new ClusterClient(server, provider);
    for (const object of exportManifests({ name: "quotes", resources: [Quote] }))
      await of.create(`/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`, object);
    const client = new ClusterClient(server, cluster);
    const about = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "quotes" } };
    const spec = { reference: { export: { path: provider, name: "quotes" } } };
    await client.create(BINDINGS, { ...about, spec });
    await client.until(`${BINDINGS}/quotes`, ({ body }) => body.status?.phase === "Bound");
    await client.create(QUOTES, quote("before"));
    await makeClusterQuota(server, cluster, { "count/quotes.example.dev": "2" });
    await untilUsed(server, `${quotasIn(cluster, "admin")}/all`, { "count/quotes.example.dev": "1" });
    await client.create(QUOTES, quote("fits"));
    const over = await server.send(`POST /clusters/${cluster}${QUOTES}`, quote("over"), ADMIN);
    expect(outcome(over)[2]).to.contain("used: count/quotes.example.dev=2, limited: count/quotes.example.dev=2");
    await client.delete(`${BINDINGS}/quotes`);
    await untilUsed(server, `${quotasIn(cluster, "admin")}/all`, {});
  });

  it("has room after deletions of collections, by the garbage collector and with a namespace", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "4" } });
    await makeClusterQuota(server, cluster, { "count/configmaps": "7" });
    const client = new ClusterClient(server, cluster);
    const owner = await client.configMap("owner");
    await client.configMap("child", { ownerReferences: [ownerOf(owner)] });
    await client.configMap("third");
    expect((await makeMap(server, cluster, "full")).status).to.equal(403);
    await client.delete("/api/v1/namespaces/default/configmaps/owner");
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "2" });
    await client.configMap("fourth");
    await server.send(`DELETE ${mapsIn(cluster)}`, undefined, ADMIN);
    await untilRootCa(server, cluster);
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
    await makeNamespace(server, cluster, "gone");
    for (const name of ["a", "b", "c"]) expect((await makeMap(server, `${cluster}/gone`, name)).status).to.equal(201);
    expect((await makeMap(server, cluster, "d")).status).to.equal(403);
    await client.delete("/api/v1/namespaces/gone");
    await client.gone("/api/v1/namespaces/gone");
    await untilUsed(server, `${quotasIn(cluster, "admin")}/all`, { "count/configmaps": "3" });
    expect((await makeMap(server, cluster, "d")).status).to.equal(201);
  });

  it("is enforced from the first request after a restart, over a store on disk", async () => {
    using folder = tree({});
    let cluster = "";
    {
      await using store = await lmdbStore({ dir: folder.path });
      const first = await started(store);
      await using server = first.server;
      cluster = first.cluster;
      await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "3" } });
      await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
      await makeMap(server, cluster, "a");
    }
    await using store = await lmdbStore({ dir: folder.path });
    await using server = await startWorkspaces(store);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => makeMap(server, cluster, `b${at}`)));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter(({ status }) => status === 403)).to.have.length(19);
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "3" });
  });

  it("warns about names that limit nothing", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    const made = await makeQuota(server, cluster, { name: "q", hard: { pods: "2", secrets: "9" } });
    expect([made.status, made.headers["warning"]]).to.deep.equal([
      201,
      '299 - "spec.hard[pods]: not enforced: use count/<resource>.<group>, because this server only counts objects"',
    ]);
    await untilUsed(server, `${quotasIn(cluster)}/q`, { secrets: "0" });
    // Others may report what this server does not count.
    await new ClusterClient(server, cluster).patch("/api/v1/namespaces/default/resourcequotas/q/status", {
      status: { used: { pods: "1", secrets: "5", unlimited: null } },
    });
    await untilUsed(server, `${quotasIn(cluster)}/q`, { pods: "1", secrets: "0" });
  });
});

const WIDGET = { apiVersion: "example.dev/v1", kind: "Widget", spec: {} };
