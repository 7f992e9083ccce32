// Why: the exports of kcp's own kinds in `root`, and the default bindings of workspaces.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type APIResourceSchema, defaultBindingName } from "@virtual-workspaces/kcp";
import { apiResourceSchemaProblems } from "@virtual-workspaces/kcp/apis";
import { isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import { identityHash } from "@virtual-workspaces/kcp/names";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome } from "../../_support/plain.ts";
import { makeAdmin, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import {
  APIS,
  alice,
  type Binding,
  become,
  identityOf,
  make,
  makerOf,
  names,
  root,
  TENANCY,
  TOPOLOGY,
  workspaceOf,
} from "./support.ts";

const EXPORTS = {
  "tenancy.kcp.io": ["workspaceauthenticationconfigurations", "workspaces", "workspacetypes"],
  "topology.kcp.io": ["partitions", "partitionsets"],
  "shards.core.kcp.io": ["shards"],
  "cache.kcp.io": ["clustercachedresourceendpointslices", "clustercachedresources"],
  "migration.kcp.io": ["logicalclusterdumps", "logicalclustermigrations"],
};
/** Exports without default bindings, as in a kcp without feature gates. */
const UNBOUND = ["cache.kcp.io", "migration.kcp.io"];
const SCHEMAS = "/clusters/root/apis/apis.kcp.io/v1alpha1/apiresourceschemas";

describe("kcp's own kinds", function () {
  this.timeout(30_000);

  it("are exported by root with ordinary schemas, and bound there", async () => {
    await using server = await startWorkspaces();
    const exports = (await server.get(`/clusters/root${APIS}/apiexports`, root)).body.items;
    expect(exports.map(({ metadata }: KubeObject) => metadata.name)).to.have.members(Object.keys(EXPORTS));
    for (const { metadata, spec, status } of exports) {
      const { name } = metadata;
      const resources = EXPORTS[name as keyof typeof EXPORTS];
      expect(spec.resources.map((one: { name: string }) => one.name)).to.deep.equal(resources);
      expect(spec.maximalPermissionPolicy).to.deep.equal(name === "tenancy.kcp.io" ? { local: {} } : undefined);
      expect(metadata.annotations).to.include({ "kcp.io/path": "root", "kcp.io/cluster": "root" });
      expect(spec.identity.secretRef).to.deep.equal({ namespace: "kcp-system", name });
      const secret = await server.get(`/clusters/root/api/v1/namespaces/kcp-system/secrets/${name}`, root);
      expect(status.identityHash).to.equal(identityHash(Buffer.from(secret.body.data.key, "base64")));
      for (const { schema, group, storage } of spec.resources) {
        const kept: APIResourceSchema = (await server.get(`${SCHEMAS}/${schema}`, root)).body;
        expect(apiResourceSchemaProblems(kept), schema).to.deep.equal([]);
        expect(kept.spec?.group).to.equal(group);
        expect(storage).to.deep.equal({ crd: {} });
      }
      const binding = await server.get(`/clusters/root${APIS}/apibindings/${name}`, root);
      if (UNBOUND.includes(name)) expect(binding.status).to.equal(404);
      else {
        const { status: bound } = binding.body;
        expect(bound.phase).to.equal("Bound");
        expect(bound.boundResources.map((one: { resource: string }) => one.resource)).to.deep.equal(resources);
        for (const one of bound.boundResources) expect(one.schema.identityHash).to.equal(status.identityHash);
      }
      await become<{ status: { conditions?: never } } & KubeObject>(server, `/clusters/root${APIS}/apiexports`, {
        name,
        is: (found) => isConditionTrue(found.status.conditions, "IdentityValid"),
      });
      const slices = "/clusters/root/apis/apis.kcp.io/v1alpha1/apiexportendpointslices";
      await become(server, slices, { name, is: () => true });
    }
    expect(await names(server, "/clusters/root/apis/core.kcp.io/v1alpha1/shards")).to.deep.equal(["root"]);
  });

  it("are bound in a workspace by its type as soon as it is ready, except for shards", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    await makeAdmin(server, cluster, "alice");
    const bindings: Binding[] = (await server.get(`/clusters/${cluster}${APIS}/apibindings`, alice)).body.items;
    const named = (exportName: string) => defaultBindingName({ cluster, exportPath: "root", exportName });
    expect(bindings.map(({ metadata }) => metadata.name)).to.have.members(
      ["tenancy.kcp.io", "topology.kcp.io"].map(named),
    );
    for (const { status } of bindings) expect(status?.phase).to.equal("Bound");
    expect(await names(server, `/clusters/${cluster}${TENANCY}/workspaces`, "alice")).to.deep.equal([]);
    expect(await names(server, `/clusters/${cluster}${TOPOLOGY}/partitions`, "alice")).to.deep.equal([]);
    expect(await names(server, `/clusters/${cluster}/apis/core.kcp.io/v1alpha1/shards`, "root")).to.equal(404);
    expect(await names(server, `/clusters/system:admin${TENANCY}/workspaces`)).to.equal(404);
    const logicalClusters = `/clusters/${cluster}/apis/core.kcp.io/v1alpha1/logicalclusters`;
    const { metadata, spec } = (await server.get(`${logicalClusters}/cluster`, alice)).body;
    expect(spec.initializers).to.deep.equal(["root:universal", "system:apibindings"]);
    expect(JSON.parse(metadata.annotations["internal.apis.kcp.io/resource-bindings"])).to.deep.equal({
      "partitions.topology.kcp.io": { n: named("topology.kcp.io") },
      "partitionsets.topology.kcp.io": { n: named("topology.kcp.io") },
      "workspaceauthenticationconfigurations.tenancy.kcp.io": { n: named("tenancy.kcp.io") },
      "workspaces.tenancy.kcp.io": { n: named("tenancy.kcp.io") },
      "workspacetypes.tenancy.kcp.io": { n: named("tenancy.kcp.io") },
    });
    // The server's own schema and rules apply, not those of a custom resource.
    const path = `/clusters/${cluster}${TENANCY}/workspaces` as const;
    const made = await makerOf(server, "alice")(path, workspaceOf("child"));
    expect(made).to.have.nested.property("spec.type").that.deep.equals({ name: "universal", path: "root" });
    expect(made.metadata.annotations).to.have.property("experimental.tenancy.kcp.io/owner");
    const refused = await server.send(`POST ${path}`, workspaceOf("x", { cluster: "mine" }), alice);
    expect(outcome(refused)[2]).to.equal(
      'workspaces.tenancy.kcp.io "x" is forbidden: spec.Cluster can only be set by system privileged users',
    );
    expect((await server.send(`POST ${path}`, workspaceOf("y", { location: 3 }), alice)).status).to.equal(422);
  });

  it("are listed across all workspaces by their identity only", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    const identity = await identityOf(server);
    await using watch = await server.watch(`/clusters/*${TENANCY}/workspaces:${identity}?watch=true`, root);
    await make(server, `/clusters/${cluster}${TENANCY}/workspaces`, workspaceOf("child"));
    await watch.until(({ object }) => object.metadata?.name === "child");
    expect(await names(server, `/clusters/*${TENANCY}/workspaces:${identity}`)).to.have.members(["org", "child"]);
    expect(await names(server, `/clusters/${cluster}${TENANCY}/workspaces:${identity}`)).to.deep.equal(["child"]);
    expect(await names(server, `/clusters/*${TENANCY}/workspaces`)).to.equal(404);
    const other = await identityOf(server, "topology.kcp.io");
    expect(await names(server, `/clusters/*${TENANCY}/workspaces:${other}`)).to.equal(404);
    const shards = `/clusters/*/apis/core.kcp.io/v1alpha1/shards`;
    expect(await names(server, `${shards}:${await identityOf(server, "shards.core.kcp.io")}`)).to.deep.equal(["root"]);
    for (const user of ["admin", "alice"])
      expect(await names(server, `/clusters/*${TENANCY}/workspaces:${identity}`, user)).to.equal(403);
  });

  it("of switched-off features are ordinary custom resources for users who may bind them", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    await makeAdmin(server, cluster, "alice");
    const [group, version] = ["migration.kcp.io", "migration.kcp.io/v1alpha1"];
    const binding = {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: group },
      spec: { reference: { export: { path: "root", name: group } } },
    };
    const bindings = `/clusters/${cluster}${APIS}/apibindings` as const;
    const refused = await server.send(`POST ${bindings}`, binding, alice);
    expect(refused.status, refused.text).to.equal(403);
    expect(refused.body.message).to.contain("no permission to bind to export root:migration.kcp.io");
    await make(server, bindings, binding);
    await become<Binding>(server, bindings, { name: group, is: ({ status }) => status?.phase === "Bound" });
    const path = `/clusters/${cluster}/apis/${version}/logicalclustermigrations` as const;
    const spec = { logicalCluster: cluster, destinationShard: "root" };
    const migration = { apiVersion: version, kind: "LogicalClusterMigration", metadata: { name: "move" } };
    const made = await server.send(`POST ${path}`, { ...migration, spec }, alice);
    expect(made.status, made.text).to.equal(201);
    expect(made.body.spec).to.deep.equal(spec);
    expect(
      await names(server, `/clusters/*/apis/${version}/logicalclustermigrations:${await identityOf(server, group)}`),
    ).to.deep.equal(["move"]);
  });

  it("survive a restart, which resets changed exports", async () => {
    await using store = memoryStore();
    let identity = "";
    let cluster = "";
    {
      await using server = await startWorkspaces(store);
      identity = await identityOf(server);
      cluster = await makeWorkspace(server, "org");
      await make(server, `/clusters/${cluster}${TENANCY}/workspaces`, workspaceOf("child"));
      const path = `/clusters/root${APIS}/apiexports/tenancy.kcp.io` as const;
      const change = { metadata: { labels: { mine: "yes" } }, spec: { maximalPermissionPolicy: null, resources: [] } };
      expect((await server.send(`PATCH ${path}`, change, { ...root, ...MERGE })).status).to.equal(200);
      // The identity stays without its secret.
      await server.send("DELETE /clusters/root/api/v1/namespaces/kcp-system/secrets/tenancy.kcp.io", undefined, root);
    }
    await using server = await startWorkspaces(store);
    expect(await names(server, `/clusters/${cluster}${TENANCY}/workspaces`)).to.deep.equal(["child"]);
    const { metadata, spec, status } = (await server.get(`/clusters/root${APIS}/apiexports/tenancy.kcp.io`, root)).body;
    expect(metadata.labels).to.deep.equal({ mine: "yes" });
    expect(spec.maximalPermissionPolicy).to.deep.equal({ local: {} });
    expect(spec.resources).to.have.length(3);
    expect(status.identityHash).to.equal(identity);
    const again = await makeWorkspace(server, "more");
    expect(await names(server, `/clusters/${again}${TENANCY}/workspaces:${identity}`)).to.deep.equal([]);
  });
});
