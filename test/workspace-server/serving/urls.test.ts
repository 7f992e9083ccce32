// The meaning of a workspace server's URLs, and the errors of invalid ones.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { ShardRegistry } from "../../../packages/workspace-server/src/state/shard-registry.ts";
import { outcome, startPlain } from "../../_support/plain.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { seeded } from "./seeded.ts";

const NAMESPACES = "/api/v1/namespaces";
const NO_WORKSPACE = (path: string) => [404, "NotFound", `workspaces.tenancy.kcp.io "${path}" not found`];

describe("/clusters/<name or path>", () => {
  it("accepts names and paths in any encoding, and rejects nested prefixes", async () => {
    await using store = await seeded({ workspace: "org", cluster: "2abc" });
    await using server = await startWorkspaces(store);
    const user = "root";
    for (const said of ["2abc", "root:org", "root%3Aorg", "root%3aorg"]) {
      const { status, body } = await server.get(`/clusters/${said}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`, {
        user,
      });
      expect(status, said).to.equal(200);
      expect(body.metadata.annotations).to.include({ "kcp.io/cluster": "2abc", "kcp.io/path": "root:org" });
    }
    const { paths } = (await server.get("/clusters/root", { user })).body;
    expect(paths).to.include.members(["/api", "/api/v1", "/apis/tenancy.kcp.io/v1alpha1", "/openapi/v2", "/version"]);
    expect((await server.get("/clusters/root/", { user })).body.paths).to.deep.equal(paths);
    // Its default bindings are there only if it is a second older than the exports of this server.
    const unbound = (all: readonly string[]) => all.filter((path) => !/\/(tenancy|topology)\./.test(path));
    for (const path of ["/clusters/root:org", "/clusters/root:org/"])
      expect(unbound((await server.get(path, { user })).body.paths), path).to.deep.equal(unbound(paths));
    for (const path of ["/api/", "/apis/", "/api/v1/", "/version/", `${NAMESPACES}/`])
      expect((await server.get(`/clusters/root${path}`, { user })).status, path).to.equal(200);
    expect((await server.get("/clusters/2abc/clusters/root/api", { user })).status).to.equal(404);
    expect((await server.get("/clusters/root/services/x", { user })).status).to.equal(404);
  });

  it("rejects an invalid name before authentication", async () => {
    await using server = await startWorkspaces();
    for (const said of ["Root", "root:", ":root", "root::org", "a_b", "a.b", "-a", "a-", "x".repeat(64), "system:"])
      for (const user of ["admin", "nobody"])
        expect(outcome(await server.get(`/clusters/${said}/api`, { user })), said).to.deep.equal([
          400,
          "BadRequest",
          `invalid cluster: "${said}" does not match the regex`,
        ]);
    expect((await server.get("/clusters//api", { user: "root" })).status).to.equal(400);
    expect((await server.get("/clusters/root//api", { user: "root" })).status).to.equal(400);
  });

  it("hides whether a name exists, except from system:masters, for whom it is empty; an unknown path is 404", async () => {
    await using store = await seeded({ workspace: "org", cluster: "2abc" });
    await using server = await startWorkspaces(store);
    const at = (cluster: string, user: string) => server.get(`/clusters/${cluster}${NAMESPACES}`, { user });
    const refused = (user: string) => [
      403,
      "Forbidden",
      `namespaces is forbidden: User "${user}" cannot list resource "namespaces" in API group "" at the cluster scope: access denied`,
    ];
    for (const cluster of ["2abc", "nothing", "system:nothing", "system:admin"])
      expect(outcome(await at(cluster, "alice")), cluster).to.deep.equal(refused("alice"));
    expect(outcome(await at("nothing", "admin"))).to.deep.equal(refused("kcp-admin"));
    expect((await at("2abc", "admin")).status).to.equal(200);
    const nothing = await at("nothing", "root");
    expect(nothing.body.items).to.deep.equal([]);
    expect((await server.get(`/clusters/nothing${NAMESPACES}/x`, { user: "root" })).status).to.equal(404);
    for (const user of ["root", "admin", "alice"])
      for (const path of ["root:nothing", "root:org:nothing", "nothing:at-all", "user:nobody"]) {
        const answer = await at(path, user);
        expect(outcome(answer), path).to.deep.equal(NO_WORKSPACE(path));
        expect(answer.body.details).to.deep.equal({ name: path, group: "tenancy.kcp.io", kind: "workspaces" });
      }
    expect((await at("root:nothing", "nobody")).status).to.equal(401);
    expect((await server.get("/clusters/root/api", { user: "alice" })).status).to.equal(200);
    expect(outcome(await server.get("/clusters/nothing/api"))).to.deep.equal([
      403,
      "Forbidden",
      'forbidden: User "alice" cannot get path "/api": access denied',
    ]);
  });

  it("is 503 for an unavailable workspace, and 429 for one on another shard", async () => {
    const registry = new ShardRegistry();
    const urls = { baseURL: "https://b", externalURL: "https://b", virtualWorkspaceURL: "https://b" };
    registry.index.setShard("root", urls);
    registry.index.setShard("b", urls);
    registry.index.setLogicalCluster("root", { name: "root", path: "root" });
    registry.index.setLogicalCluster("b", { name: "far", path: "root:far" });
    registry.index.setWorkspace("root", { cluster: "root", name: "far", target: "far", phase: "Ready" });
    const view = defineVirtualWorkspace({
      name: "clusters",
      prefix: "/clusters",
      path: "/:cluster",
      locate: (said) => registry.locate(said, "root"),
      authorize: () => allow(),
      resources: [],
    });
    registry.index.setLogicalCluster("root", { name: "2abc", path: "root:org" });
    registry.index.setWorkspace("root", { cluster: "root", name: "org", target: "2abc", phase: "Unavailable" });
    await using other = await startPlain([view]);
    const gone = await other.get("/clusters/root:org/api");
    expect(outcome(gone)).to.deep.equal([503, "ServiceUnavailable", "Not available."]);
    const answer = await other.get("/clusters/root:far/api");
    expect(outcome(answer)).to.deep.equal([429, "TooManyRequests", "Not found on this shard"]);
    expect(answer.headers["retry-after"]).to.equal("1");
  });

  it("is closed while the logical cluster is inactive, except for its reactivation; open watches end, also those over all", async () => {
    await using store = await seeded({ workspace: "org", cluster: "2abc" });
    await using server = await startWorkspaces(store);
    const its = "/clusters/2abc/apis/core.kcp.io/v1alpha1/logicalclusters/cluster" as const;
    const mark = (value: string | null) =>
      server.send(
        `PATCH ${its}`,
        { metadata: { annotations: { "core.kcp.io/inactive": value } } },
        { user: "admin", headers: { "content-type": "application/merge-patch+json" } },
      );
    await using watch = await server.watch(`/clusters/2abc${NAMESPACES}?watch=true`, { user: "admin" });
    const metadata = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
    const everywhere = (headers = {}) => server.watch(`/clusters/*${NAMESPACES}?watch=true`, { user: "root", headers });
    await using all = await everywhere();
    await using allMetadata = await everywhere(metadata);
    expect((await mark("true")).status).to.equal(200);
    for (const open of [all, allMetadata])
      expect((await open.rest()).at(-1)).to.have.nested.property("object.code", 410);
    await using later = await everywhere();
    await later.until(({ object }) => object.metadata?.name === "default");
    const shut = [
      403,
      "Forbidden",
      'logicalclusters.core.kcp.io "2abc" is forbidden: logical cluster is marked inactive',
    ];
    for (const path of ["/api", "/version", NAMESPACES, `${NAMESPACES}?watch=true`, "/apis/core.kcp.io/v1alpha1"])
      for (const user of ["root", "admin", "alice"])
        for (const cluster of ["2abc", "root:org"])
          expect(outcome(await server.get(`/clusters/${cluster}${path}`, { user })), path).to.deep.equal(shut);
    for (const path of ["/openapi/v2", "/openapi/v3"])
      expect((await server.get(`/clusters/2abc${path}`, { user: "admin" })).status, path).to.equal(200);
    expect((await server.get(its, { user: "admin" })).status).to.equal(200);
    expect((await server.get(its, { user: "alice" })).status).to.equal(403);
    const told = await watch.rest();
    expect(told.at(-1)).to.have.nested.property("object.code", 410);
    expect((await server.get(`/clusters/*${NAMESPACES}`, { user: "root" })).status).to.equal(200);
    expect((await mark(null)).status).to.equal(200);
    expect((await server.get(`/clusters/2abc${NAMESPACES}`, { user: "admin" })).status).to.equal(200);
    const late = { apiVersion: "v1", kind: "Namespace", metadata: { name: "late" } };
    expect((await server.send(`POST /clusters/2abc${NAMESPACES}`, late, { user: "admin" })).status).to.equal(201);
    await later.until(({ object }) => object.metadata?.name === "late");
  });

  it("ends watches with the logical cluster; a new one at the path is different", async () => {
    await using server = await startWorkspaces();
    const user = "admin";
    const workspaces = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
    const first = await makeWorkspace(server, "org");
    const maps = "/api/v1/namespaces/default/configmaps";
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "mine" } };
    expect((await server.send(`POST /clusters/root:org${maps}`, map, { user })).status).to.equal(201);
    await using byPath = await server.watch(`/clusters/root:org${maps}?watch=true`, { user });
    await using byName = await server.watch(`/clusters/${first}${NAMESPACES}?watch=true`, { user });
    await using master = await server.watch(`/clusters/${first}${maps}?watch=true`, { user: "root" });
    await using everywhere = await server.watch("/clusters/*/api/v1/configmaps?watch=true", { user: "root" });
    expect((await server.send(`DELETE ${workspaces}/org`, undefined, { user })).status).to.equal(200);
    for (const [watch, name] of [
      [byPath, "mine"],
      [byName, "default"],
      [master, "mine"],
    ] as const) {
      const told = await watch.rest();
      expect(told.some(({ type, object }) => type === "DELETED" && object.metadata?.name === name)).to.equal(true);
      expect(told.at(-1)?.object).to.include({ code: 410, reason: "Expired" });
    }
    // A new list shows that it is gone; system:masters get an empty list.
    expect((await server.get(`/clusters/${first}${maps}`, { user })).status).to.equal(403);
    expect((await server.get(`/clusters/root:org${maps}`, { user })).status).to.equal(404);
    expect((await server.get(`/clusters/${first}${maps}`, { user: "root" })).body.items).to.deep.equal([]);
    await using nothing = await server.watch(`/clusters/${first}${maps}?watch=true`, { user: "root" });
    expect(nothing.status).to.equal(200);
    const second = await makeWorkspace(server, "org");
    expect(second).to.not.equal(first);
    const its = await server.get("/clusters/root:org/apis/core.kcp.io/v1alpha1/logicalclusters/cluster", { user });
    expect(its.body.metadata.annotations["kcp.io/cluster"]).to.equal(second);
    expect((await server.get(`/clusters/root:org${maps}/mine`, { user })).status).to.equal(404);
    await everywhere.until(
      ({ type, object }) => type === "ADDED" && object.metadata?.annotations?.["kcp.io/cluster"] === second,
    );
  });
});
