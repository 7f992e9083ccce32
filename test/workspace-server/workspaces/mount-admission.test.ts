// Mounting a workspace requires the right to read the referenced object.
import { expect } from "chai";
import { mountKind, root, WORKSPACES } from "../../plugins/mounts/workspaces/support/mounted.ts";
import { bind, define, makeAdmin, makeNamespace, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { refusal } from "./support/served.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ALICE = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" };
const TENANCY = { apiGroups: ["tenancy.kcp.io"], resources: ["workspaces"], verbs: ["*"] };
const may = (resource: string, name: string) => ({
  apiGroups: ["example.dev"],
  resources: [resource],
  resourceNames: [name],
  verbs: ["get"],
});

describe("mounting a workspace", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let team: string;
  let count = 0;

  before(async () => {
    server = await startWorkspaces();
    team = await makeWorkspace(server, "team");
    await makeAdmin(server, team, "bob");
    await makeNamespace(server, team, "sites");
    await define(server, team, [mountKind("KubeCluster"), mountKind("SiteProxy", "Namespaced")]);
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "mounts" } };
    const rules = [TENANCY, may("kubeclusters", "mine")];
    await server.send(`POST /clusters/${team}${RBAC}/clusterroles`, { ...role, kind: "ClusterRole", rules }, root);
    await bind(server, team, { name: "mounts", role: "mounts", subject: ALICE });
    await bind(server, team, { name: "access", role: "system:kcp:workspace:access", subject: ALICE });
    const within = `/clusters/${team}${RBAC}/namespaces/sites` as const;
    const local = { ...role, kind: "Role", rules: [may("siteproxies", "mine"), may("siteproxys", "mine")] };
    await server.send(`POST ${within}/roles`, local, root);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "mounts" };
    await server.send(
      `POST ${within}/rolebindings`,
      { ...role, kind: "RoleBinding", roleRef, subjects: [ALICE] },
      root,
    );
  });

  after(async () => server?.[Symbol.asyncDispose]());

  const mount = async (user: string, ref: object): Promise<string> => {
    const spec = { mount: { ref: { apiVersion: "example.dev/v1", ...ref } } };
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: `w${count++}` }, spec };
    return refusal(await server.send(`POST /clusters/${team}${WORKSPACES}`, about, { user }));
  };

  it("requires get on the object by name and namespace, whether or not it exists", async () => {
    expect(await mount("alice", { kind: "KubeCluster", name: "mine" })).to.equal("201");
    expect(await mount("alice", { kind: "KubeCluster", name: "other" })).to.equal(
      `403 unable to mount KubeCluster "/other": missing verb='get' permission on kubeclusters.example.dev`,
    );
    expect(await mount("alice", { kind: "SiteProxy", namespace: "sites", name: "mine" })).to.equal("201");
    for (const namespace of ["others", ""])
      expect(await mount("alice", { kind: "SiteProxy", namespace, name: "mine" })).to.equal(
        `403 unable to mount SiteProxy "${namespace}/mine": missing verb='get' permission on siteproxys.example.dev`,
      );
    // A namespace on a cluster-scoped kind does not grant that namespace's permissions.
    expect(await mount("alice", { kind: "KubeCluster", namespace: "sites", name: "other" })).to.match(/^403 unable/);
    for (const user of ["bob", "root"])
      expect(await mount(user, { kind: "KubeCluster", name: "other" })).to.equal("201");
  });

  it("requires get on the whole group if the kind does not exist yet", async () => {
    expect(await mount("alice", { kind: "Later", name: "mine" })).to.equal(
      `403 unable to mount Later "/mine": there is no such kind yet, and verb='get' is missing on all resources of the group "example.dev"`,
    );
    expect(await mount("alice", { apiVersion: "example.dev/v2", kind: "KubeCluster", name: "mine" })).to.match(
      /^403 unable to mount KubeCluster "\/mine": there is no such kind yet/,
    );
    for (const user of ["bob", "root"]) expect(await mount(user, { kind: "Later", name: "mine" })).to.equal("201");
    expect(await mount("bob", { apiVersion: "a/b/c", kind: "Later", name: "mine" })).to.equal(
      "403 spec.mount.ref.apiVersion: unexpected GroupVersion string: a/b/c",
    );
  });

  it("needs no check again when other fields change", async () => {
    await mount("bob", { kind: "KubeCluster", name: "other" });
    const path = `clusters/${team}${WORKSPACES}/w${count - 1}` as const;
    const headers = { "content-type": "application/merge-patch+json" };
    const labels = { metadata: { labels: { a: "b" } } };
    expect((await server.send(`PATCH /${path}`, labels, { user: "alice", headers })).status).to.equal(200);
  });
});
