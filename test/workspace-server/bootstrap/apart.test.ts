// Why: permissions on kcp's own kinds, their separation from kinds of others, and their deletion.

import { APIBinding, LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { ensure, modify } from "../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../packages/workspace-server/src/state/objects.ts";
import { MERGE } from "../../_support/patches.ts";
import { outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { makeAdmin, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import {
  APIS,
  alice,
  type Binding,
  become,
  identityOf,
  isBound,
  make,
  makerOf,
  names,
  root,
  TENANCY,
  TOPOLOGY,
  workspaceOf,
} from "./support.ts";

/** Returns the binding by which a workspace has workspaces. */
const bindingIn = async (server: Workspaces, cluster: string): Promise<string> => {
  const all = (await names(server, `/clusters/${cluster}${APIS}/apibindings`)) as string[];
  return all.find((name) => name.startsWith("tenancy.kcp.io")) ?? expect.fail(all.join());
};
const typeOf = (name: string, spec: object = {}): object => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "WorkspaceType",
  metadata: { name },
  spec,
});

describe("bound kinds of kcp's own", function () {
  this.timeout(30_000);

  it("may be used by workspace admins, except for their status, as root's policy says", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    await makeAdmin(server, cluster, "alice");
    const types = `/clusters/${cluster}${TENANCY}/workspacetypes`;
    await makerOf(server, "alice")(types, typeOf("mine"));
    await makerOf(server, "alice")(`/clusters/${cluster}${TENANCY}/workspaces`, workspaceOf("child"));
    const partition = { apiVersion: "topology.kcp.io/v1alpha1", kind: "Partition", metadata: { name: "p" }, spec: {} };
    await makerOf(server, "alice")(`/clusters/${cluster}${TOPOLOGY}/partitions`, partition);
    const status = { status: { conditions: [] } };
    for (const user of ["alice", "admin", "root"]) {
      const answer = await server.send(`PATCH ${types}/mine/status` as "PATCH /", status, { user, ...MERGE });
      expect(answer.status, `${user}: ${answer.text}`).to.equal(user === "alice" ? 403 : 200);
      expect((await server.get(`${types}/mine/status`, { user })).status, user).to.equal(200);
    }
    // Permissions that root revokes apply to no workspace admin.
    const role = "system:kcp:apiexport:tenancy:maximal-permission-policy";
    const path = `/clusters/root/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}` as const;
    const reading = [{ apiGroups: ["tenancy.kcp.io"], resources: ["workspaces"], verbs: ["get", "list", "watch"] }];
    const changed = await server.send(`PATCH ${path}`, { rules: reading }, { ...root, ...MERGE });
    expect(changed.status, changed.text).to.equal(200);
    await until(async () => (await server.get(types, alice)).status === 403);
    expect(await names(server, `/clusters/${cluster}${TENANCY}/workspaces`, "alice")).to.deep.equal(["child"]);
    const refused = await server.send(`POST /clusters/${cluster}${TENANCY}/workspaces`, workspaceOf("other"), alice);
    expect(outcome(refused).slice(0, 2)).to.deep.equal([403, "Forbidden"]);
    expect((await server.get(types, { user: "admin" })).status).to.equal(200);
  });

  it("are separate from kinds that others export under the same names", async () => {
    await using server = await startWorkspaces();
    await make(server, `/clusters/root${TENANCY}/workspacetypes`, typeOf("bare"));
    const type = { type: { name: "bare", path: "root" } };
    const clusters = [];
    for (const name of ["provider", "consumer"]) {
      await make(server, `/clusters/root${TENANCY}/workspaces`, workspaceOf(name, type));
      const { spec } = await become<{ spec: { cluster: string }; status: { phase: string } } & object>(
        server,
        `/clusters/root${TENANCY}/workspaces`,
        { name, is: ({ status }) => status.phase === "Ready" },
      );
      clusters.push(spec.cluster);
    }
    const [provider = "", consumer = ""] = clusters;
    expect(await names(server, `/clusters/${consumer}${TENANCY}/workspaces`)).to.equal(404);
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await make(server, `/clusters/${provider}/apis/apis.kcp.io/v1alpha1/apiresourceschemas`, {
      apiVersion: "apis.kcp.io/v1alpha1",
      kind: "APIResourceSchema",
      metadata: { name: "mine.workspaces.tenancy.kcp.io" },
      spec: {
        group: "tenancy.kcp.io",
        names: { plural: "workspaces", singular: "workspace", kind: "Workspace", listKind: "WorkspaceList" },
        scope: "Cluster",
        versions: [{ name: "v1alpha1", served: true, storage: true, schema: open }],
      },
    });
    await make(server, `/clusters/${provider}${APIS}/apiexports`, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "tenancy.kcp.io" },
      spec: {
        resources: [
          {
            group: "tenancy.kcp.io",
            name: "workspaces",
            schema: "mine.workspaces.tenancy.kcp.io",
            storage: { crd: {} },
          },
        ],
      },
    });
    const bindings = `/clusters/${consumer}${APIS}/apibindings`;
    await make(server, bindings, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: "mine" },
      spec: { reference: { export: { path: "root:provider", name: "tenancy.kcp.io" } } },
    });
    await become<Binding>(server, bindings, { name: "mine", is: isBound });
    const path = `/clusters/${consumer}${TENANCY}/workspaces` as const;
    const made = await make(server, path, workspaceOf("org", { cluster: "root", anything: ["goes"] }));
    expect(made).to.have.deep.property("spec", { cluster: "root", anything: ["goes"] });
    expect(made.metadata.annotations).to.deep.equal({ "kcp.io/cluster": consumer });
    const theirs = await identityOf(server);
    expect(await names(server, `/clusters/*${TENANCY}/workspaces:${theirs}`)).to.have.members(["provider", "consumer"]);
    const { body } = await server.get(`/clusters/${provider}${APIS}/apiexports/tenancy.kcp.io`, root);
    expect(await names(server, `/clusters/*${TENANCY}/workspaces:${body.status.identityHash}`)).to.deep.equal(["org"]);
    // Neither the name nor the path became a workspace.
    expect((await server.get("/clusters/root:consumer:org/api", root)).status).to.equal(404);
    expect((await server.get(`${path}/org`, root)).body.metadata).to.not.have.property("finalizers");
  });

  it("are deleted with their binding, including child workspaces and their content, and reject new ones", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    const path = `/clusters/${cluster}${TENANCY}/workspaces` as const;
    const held = { ...workspaceOf("child"), metadata: { name: "child", finalizers: ["test.dev/hold"] } };
    await make(server, path, held);
    await become<{ status: { phase: string } } & object>(server, path, {
      name: "child",
      is: ({ status }) => status.phase === "Ready",
    });
    const maps = "/clusters/root:org:child/api/v1/namespaces/default/configmaps";
    await make(server, maps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
    const binding = await bindingIn(server, cluster);
    const bindings = `/clusters/${cluster}${APIS}/apibindings`;
    const deleted = await server.send(`DELETE ${bindings}/${binding}` as "DELETE /", undefined, root);
    expect(deleted.status, deleted.text).to.equal(200);
    await become<Binding>(server, bindings, {
      name: binding,
      is: ({ status }) =>
        status?.conditions?.some(({ message = "" }) => message.includes("test.dev/hold in 1 resource instances")) ===
        true,
    });
    expect(outcome(await server.send(`POST ${path}`, workspaceOf("other"), root))).to.deep.equal([
      403,
      "Forbidden",
      'workspaces.tenancy.kcp.io "other" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
    const free = { metadata: { finalizers: ["core.kcp.io/logicalcluster"] } };
    expect((await server.send(`PATCH ${path}/child` as "PATCH /", free, { ...root, ...MERGE })).status).to.equal(200);
    await until(async () => (await server.get(path, root)).status === 404);
    expect((await server.get(maps, root)).status).to.equal(404);
    const logicalClusters = await server.get("/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters", root);
    expect(logicalClusters.body.items).to.have.length(2);
    // They can be bound again.
    await make(server, bindings, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: "again" },
      spec: { reference: { export: { path: "root", name: "tenancy.kcp.io" } } },
    });
    await become<Binding>(server, bindings, { name: "again", is: isBound });
    expect(await names(server, path)).to.deep.equal([]);
  });

  it("are bound in workspaces that predate the default bindings", async () => {
    const type = { name: "universal", path: "root" };
    await using store = memoryStore();
    let cluster = "";
    let bindings: string[] = [];
    {
      await using server = await startWorkspaces(store);
      cluster = await makeWorkspace(server, "org");
      bindings = (await names(server, `/clusters/${cluster}${APIS}/apibindings`)) as string[];
    }
    {
      using objects = new ShardObjects(store);
      const key = { cluster, namespace: "", name: "cluster" };
      await modify(objects.of(LogicalCluster), key, (there) => ({
        ...there,
        spec: { ...there.spec, initializers: ["root:universal"] },
      }));
      for (const name of bindings)
        await modify(objects.of(APIBinding), { ...key, name }, ({ metadata, ...rest }) => ({
          ...rest,
          metadata: { ...metadata, finalizers: [], deletionTimestamp: metadata.creationTimestamp ?? "" },
        }));
      await ensure(objects.of(Workspace), { ...key, name: "old" }, () => ({ spec: { type } }));
    }
    await using server = await startWorkspaces(store);
    const path = `/clusters/${cluster}/apis/core.kcp.io/v1alpha1/logicalclusters`;
    await become<{ spec: { initializers: string[] } } & object>(server, path, {
      name: "cluster",
      is: ({ spec }) => spec.initializers.includes("system:apibindings"),
    });
    await until(async () => (await server.get(`/clusters/${cluster}${TENANCY}/workspaces`, root)).status === 200);
    expect(await names(server, `/clusters/${cluster}${TENANCY}/workspaces`)).to.deep.equal(["old"]);
    expect(await names(server, `/clusters/${cluster}${APIS}/apibindings`)).to.have.members(bindings);
  });
});
