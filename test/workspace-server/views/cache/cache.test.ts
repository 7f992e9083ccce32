// Objects that shards share, read as from kcp's cache server: by system:masters only, of one shard or all.
import { expect } from "chai";
import type { CallOptions } from "../../../_support/plain.ts";
import { makeAdmin, makeWorkspace } from "../../support/logical-clusters.ts";
import { ClusterClient } from "../../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../support/workspaces.ts";

const EXPORTS = "/apis/apis.kcp.io/v1alpha2/apiexports";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const CLUSTERS = "/apis/core.kcp.io/v1alpha1/logicalclusters";
const TYPES = "/apis/tenancy.kcp.io/v1alpha1/workspacetypes";
const REPLICATE = "internal.kcp.io/replicate";
const GROUP = "rbac.authorization.k8s.io";
const root = { user: "root" };
const cache = (shard: string, cluster: string) => `/services/cache/shards/${shard}/clusters/${cluster}` as const;

interface Item {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

describe("the cache view", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let cluster = "";
  let client: ClusterClient;

  before(async () => {
    server = await startWorkspaces();
    cluster = await makeWorkspace(server, "provider");
    client = new ClusterClient(server, cluster);
  });
  after(() => server[Symbol.asyncDispose]());

  const items = async (path: string, who: CallOptions = root): Promise<Item[]> => {
    const { status, text, body } = await server.get(path, who);
    expect(status, text).to.equal(200);
    return body.items;
  };
  /** Returns the replication annotation of each object, by name. */
  const replicated = async (path: string): Promise<Record<string, string | undefined>> =>
    Object.fromEntries(
      (await items(cache("*", cluster) + path)).map(({ metadata: { name, annotations } }) => [
        name,
        annotations[REPLICATE],
      ]),
    );
  const role = (name: string, rule: object) =>
    client.create(ROLES, { apiVersion: `${GROUP}/v1`, kind: "ClusterRole", metadata: { name }, rules: [rule] });
  const binding = (name: string, to: string, subject: string) =>
    client.create(BINDINGS, {
      apiVersion: `${GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: to },
      subjects: [{ apiGroup: GROUP, kind: "User", name: subject }],
    });

  it("shows exports, types and similar kinds unchanged, with their origin", async () => {
    await using watch = await server.watch(`${cache("*", "*")}${EXPORTS}?watch=true`, root);
    const before = (await items(cache("*", "*") + EXPORTS)).length;
    await watch.take(before);
    const made = await client.create(EXPORTS, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "widgets" },
      spec: {},
    });
    expect(await watch.take(1)).to.deep.equal(["ADDED widgets"]);
    for (const place of [cache("root", cluster), cache("*", cluster), cache("root", "*"), cache("*", "*")]) {
      const found = (await items(place + EXPORTS)).find(({ metadata }) => metadata.name === "widgets");
      expect(found?.metadata.annotations, place).to.include({
        "kcp.io/shard": "root",
        "kcp.io/cluster": cluster,
        "cache.kcp.io/original-resource-UID": made.metadata.uid,
      });
    }
    const { body } = await server.get(`${cache("root", cluster)}${EXPORTS}/widgets`, root);
    const { body: own } = await server.get(`/clusters/${cluster}${EXPORTS}/widgets`, root);
    expect(body.metadata.annotations["cache.kcp.io/original-resource-version"]).to.equal(own.metadata.resourceVersion);
    expect(body.metadata.annotations["virtual-workspaces.dev/source-version"]).to.equal(own.metadata.resourceVersion);
    expect([body.metadata.managedFields, own.metadata.managedFields?.length]).to.deep.equal([undefined, 1]);
    expect([body.spec, body.status]).to.deep.equal([own.spec, own.status]);
    expect(await items(cache("other", "*") + EXPORTS), "of a shard that is not here").to.deep.equal([]);
    expect((await items(cache("*", "root") + TYPES)).map(({ metadata }) => metadata.name)).to.include("universal");
    expect(
      (await items(`${cache("*", "*")}/apis/core.kcp.io/v1alpha1/shards`)).map(({ metadata }) => metadata.name),
    ).to.deep.equal(["root"]);
    await client.delete(`${EXPORTS}/widgets`);
    await watch.until(({ type }) => type === "DELETED");
  });

  it("shows roles that other shards need, with their bindings, while these exist", async () => {
    await using roles = await server.watch(`${cache("*", cluster)}${ROLES}?watch=true`, root);
    await role("nothing", { apiGroups: [""], resources: ["configmaps"], verbs: ["bind", "use"] });
    await role("binds", { apiGroups: ["apis.kcp.io"], resources: ["apiexports"], verbs: ["bind"] });
    await role("content", { apiGroups: ["*"], resources: ["apiexports/content"], verbs: ["get"] });
    await role("reads", { apiGroups: ["apis.kcp.io"], resources: ["apiexports"], verbs: ["get"] });
    await role("uses", { apiGroups: ["tenancy.kcp.io"], resources: ["workspacetypes"], verbs: ["use"] });
    await role("enters", { nonResourceURLs: ["/"], verbs: ["access"] });
    expect(await roles.take(3)).to.deep.equal(["ADDED binds", "ADDED content", "ADDED uses"]);
    expect(await replicated(ROLES)).to.deep.equal({
      binds: "apis.kcp.io",
      content: "apis.kcp.io",
      uses: "tenancy.kcp.io",
    });
    await binding("users", "uses", "alice");
    await binding("admins", "cluster-admin", "alice");
    await binding("entering", "enters", "alice");
    await binding("policy", "nothing", "apis.kcp.io:binding:bob");
    expect(await roles.take(1), "by its binding").to.deep.equal(["ADDED nothing"]);
    expect(await replicated(BINDINGS)).to.include({
      users: "tenancy.kcp.io",
      admins: "apis.kcp.io,tenancy.kcp.io",
      policy: "apis.kcp.io",
    });
    expect(await replicated(CLUSTERS)).to.deep.equal({});
    await client.create(EXPORTS, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "x" },
      spec: {},
    });
    expect(await replicated(CLUSTERS)).to.deep.equal({ cluster: "apis.kcp.io" });
    expect(await roles.take(1), "since others ask who may enter").to.deep.equal(["ADDED enters"]);
    expect(await replicated(BINDINGS)).to.include({
      entering: "core.kcp.io",
      admins: "apis.kcp.io,core.kcp.io,tenancy.kcp.io",
    });
    await client.delete(`${BINDINGS}/policy`);
    expect(await roles.take(1)).to.deep.equal(["DELETED nothing"]);
    await client.patch(`${ROLES}/binds`, { rules: [] });
    expect(await roles.take(1)).to.deep.equal(["DELETED binds"]);
    await client.delete(`${EXPORTS}/x`);
    expect(await roles.take(1)).to.deep.equal(["DELETED enters"]);
    expect(await replicated(CLUSTERS)).to.deep.equal({});
    expect(await items(cache("*", "system:admin") + ROLES), "what is shipped stays").to.deep.equal([]);
    const claimed = { metadata: { annotations: { [REPLICATE]: "apis.kcp.io" } } };
    await client.patch(`${ROLES}/reads`, claimed);
    expect(await replicated(ROLES), "whatever it says itself").not.to.have.property("reads");
  });

  it("allows only system:masters", async () => {
    await makeAdmin(server, cluster, "alice");
    for (const user of ["alice", "admin", "bob"])
      for (const path of [EXPORTS, `${EXPORTS}/x`, BINDINGS, "/apis", "/openapi/v3"])
        for (const place of [cache("*", "*"), cache("root", cluster)])
          expect((await server.get(place + path, { user })).status, `${user} ${path}`).to.equal(403);
    const account = "/api/v1/namespaces/default/serviceaccounts/default/token";
    const { status } = await client.create(account, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    expect((await server.get(cache("root", cluster) + EXPORTS, { user: status.token })).status).to.equal(403);
    expect((await fetch(server.url + cache("*", "*") + EXPORTS)).status).to.equal(403);
    expect((await server.get(cache("*", "*") + EXPORTS, { user: "stranger" })).status).to.equal(401);
  });

  it("is read-only, and has no other kinds", async () => {
    const place = cache("root", cluster);
    const object = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIExport", metadata: { name: "y" }, spec: {} };
    for (const write of [`POST ${place}${EXPORTS}`, `PUT ${place}${EXPORTS}/y`, `DELETE ${place}${EXPORTS}/y`] as const)
      expect((await server.send(write, object, root)).status, write).to.equal(405);
    for (const path of [
      "/api/v1/secrets",
      "/apis/apis.kcp.io/v1alpha2/apibindings",
      "/apis/tenancy.kcp.io/v1alpha1/workspaces",
    ])
      expect((await server.get(place + path, root)).status, path).to.equal(404);
    expect((await server.get(cache("NO", "*") + EXPORTS, root)).body.message).to.equal(
      'invalid shard: "NO" does not match the regex',
    );
    expect((await server.get(`/services/cache/clusters/${cluster}${EXPORTS}`, root)).status).to.equal(404);
  });
});
