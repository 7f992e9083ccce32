// Several shards in one process: each like a kcp shard at its own address, and all as one at the server's.
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { expect } from "chai";
import { memoryFolder } from "../../_support/memory-folder.ts";
import { outcome } from "../../_support/plain.ts";
import { makeAdmin } from "../support/logical-clusters.ts";
import {
  CONFIG_MAPS,
  configMap,
  makeOn,
  namesIn,
  root,
  SHARDS,
  Stores,
  shardAt,
  startSharded,
  untilAt,
  WORKSPACES,
} from "./support.ts";

describe("several shards in one process", function () {
  this.timeout(30_000);

  it("listen at the address in their Shard, with their own objects and versions", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const { body } = await server.get(SHARDS, root);
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
      "root",
      "shard-1",
    ]);
    const [main, other] = body.items.map(({ spec }: { spec: object }) => spec);
    expect(main).to.deep.equal({
      baseURL: server.url,
      externalURL: server.url,
      virtualWorkspaceURL: server.url,
    });
    expect(other.externalURL, "users come to the server").to.equal(server.url);
    expect(other.virtualWorkspaceURL).to.equal(other.baseURL).and.not.equal(server.url);
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const near = await makeOn(server, "near", { shard: "root" });
    const shard = await shardAt(server, "shard-1");
    for (const [at, cluster] of [
      [server, near],
      [shard, far],
    ] as const)
      expect(
        (await at.send(`POST /clusters/${cluster}${CONFIG_MAPS}`, configMap(`in-${cluster}`), root)).status,
      ).to.equal(201);
    const all = "/clusters/*/api/v1/configmaps";
    expect(namesIn(await server.get(all, root)))
      .to.include(`in-${near}`)
      .and.not.include(`in-${far}`);
    expect(namesIn(await shard.get(all, root)))
      .to.include(`in-${far}`)
      .and.not.include(`in-${near}`);
    expect((await shard.get(all, { user: "admin" })).status).to.equal(403);
    const version = async (at: typeof shard | typeof server) =>
      Number((await at.get(all, root)).body.metadata.resourceVersion);
    const before = await version(shard);
    expect((await server.send(`POST /clusters/${near}${CONFIG_MAPS}`, configMap("more"), root)).status).to.equal(201);
    expect(await version(shard), "versions are a shard's own").to.equal(before);
  });

  it("appear as one at the server's address, by name and path, for reads, watches, writes and children", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const at = (await server.get(`/clusters/root${WORKSPACES}/far`, root)).body;
    expect(at.spec.URL).to.equal(`${server.url}/clusters/root:far`);
    for (const said of [far, "root:far", "root%3Afar"])
      expect(
        (await server.get(`/clusters/${said}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`, root)).body.status.URL,
      ).to.equal(`${server.url}/clusters/${far}`);
    await using watch = await server.watch(`/clusters/root:far${CONFIG_MAPS}?watch=true`, root);
    expect((await server.send(`POST /clusters/root:far${CONFIG_MAPS}`, configMap("a"), root)).status).to.equal(201);
    await watch.until(({ object }) => object.metadata.name === "a");
    const child = await makeOn(server, "child", { shard: "root", at: "root:far" });
    await makeOn(server, "grandchild", { shard: "shard-1", at: "root:far:child" });
    expect(namesIn(await server.get(`/clusters/root:far${WORKSPACES}`, root))).to.deep.equal(["child"]);
    const grandchild = "root:far:child:grandchild";
    expect((await server.send(`POST /clusters/${grandchild}${CONFIG_MAPS}`, configMap("b"), root)).status).to.equal(
      201,
    );
    const shard = await shardAt(server, "shard-1");
    expect(namesIn(await shard.get(`/clusters/${grandchild}${CONFIG_MAPS}`, root))).to.include("b");
    expect(outcome(await shard.get(`/clusters/root:far:child${CONFIG_MAPS}`, root))).to.deep.equal([
      429,
      "TooManyRequests",
      "Not found on this shard",
    ]);
    const tenancy = "/clusters/root/apis/apis.kcp.io/v1alpha2/apiexports/tenancy.kcp.io";
    const { identityHash } = (await server.get(tenancy, root)).body.status;
    expect(namesIn(await shard.get(`/clusters/*${WORKSPACES}:${identityHash}`, root))).to.deep.equal(["child"]);
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/far`, undefined, root)).status).to.equal(200);
    await untilAt(server, `/clusters/root${WORKSPACES}/far`, ({ status }) => status === 404);
    for (const cluster of [far, child])
      expect(namesIn(await server.get(`/clusters/${cluster}${CONFIG_MAPS}`, root)), cluster).to.deep.equal([]);
    expect(namesIn(await shard.get(`/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters`, root))).to.deep.equal([]);
  });

  it("reject reads and writes of another shard's objects, and reveal no more to users without access", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const near = await makeOn(server, "near", { shard: "root" });
    const shard = await shardAt(server, "shard-1");
    const maps = `/clusters/${near}${CONFIG_MAPS}` as const;
    for (const answer of [await shard.get(maps, root), await shard.send(`POST ${maps}`, configMap("a"), root)]) {
      expect(outcome(answer)).to.deep.equal([429, "TooManyRequests", "Not found on this shard"]);
      expect(answer.headers["retry-after"]).to.equal("1");
    }
    const [known, unknown] = await Promise.all([
      shard.get(maps, { user: "alice" }),
      shard.get(`/clusters/nothing${CONFIG_MAPS}`, { user: "alice" }),
    ]);
    expect(outcome(known)).to.deep.equal(outcome(unknown));
    expect(known.status).to.equal(403);
    for (const system of ["system:admin", "system:bound-crds"])
      expect((await shard.get(`/clusters/${system}/api/v1/namespaces`, root)).status, system).to.equal(200);
  });

  it("authorize by the logical cluster's own roles, at both addresses", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const near = await makeOn(server, "near", { shard: "root" });
    const shard = await shardAt(server, "shard-1");
    await makeAdmin(server, far, "alice");
    await makeAdmin(server, near, "bob");
    const ask = async (at: typeof shard | typeof server, cluster: string, user: string) =>
      (await at.get(`/clusters/${cluster}${CONFIG_MAPS}`, { user })).status;
    await untilAt(server, { path: `/clusters/${far}${CONFIG_MAPS}`, user: "alice" }, ({ status }) => status === 200);
    await untilAt(server, { path: `/clusters/${near}${CONFIG_MAPS}`, user: "bob" }, ({ status }) => status === 200);
    expect([
      await ask(server, far, "alice"),
      await ask(server, "root:far", "alice"),
      await ask(shard, far, "alice"),
    ]).to.deep.equal([200, 200, 200]);
    expect([
      await ask(server, far, "bob"),
      await ask(shard, far, "bob"),
      await ask(server, near, "alice"),
    ]).to.deep.equal([403, 403, 403]);
    // A workspace belongs to its creator, even if its parent is on another shard.
    const child = await makeOn(server, "child", { shard: "root", at: "root:far", user: "alice" });
    await untilAt(
      server,
      { path: `/clusters/root:far:child${CONFIG_MAPS}`, user: "alice" },
      ({ status }) => status === 200,
    );
    expect(await ask(server, child, "bob")).to.equal(403);
  });

  it("accept service account tokens of another shard, with the rights granted there", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const shard = await shardAt(server, "shard-1");
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await untilAt(server, `/clusters/${far}${account}`, ({ status }) => status === 200);
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const made = await server.send(`POST /clusters/${far}${account}/token`, request, root);
    expect(made.status, made.text).to.equal(201);
    const user: string = made.body.status.token;
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    for (const at of [server, shard]) {
      const whoami = await at.send(`POST /apis/authentication.k8s.io/v1/selfsubjectreviews`, review, { user });
      expect(whoami.status, whoami.text).to.equal(201);
      expect(whoami.body.status.userInfo.username).to.equal("system:serviceaccount:default:default");
    }
    const near = await makeOn(server, "near", { shard: "root" });
    expect((await server.get(`/clusters/${near}${CONFIG_MAPS}`, { user })).status).to.equal(403);
  });

  it("are chosen by a workspace's selector, and skipped if marked unschedulable", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const headers = { "content-type": "application/merge-patch+json" };
    const mark = (value: string | null) => {
      const annotations = { "experimental.core.kcp.io/unschedulable": value };
      return server.send(`PATCH ${SHARDS}/root`, { metadata: { annotations } }, { ...root, headers });
    };
    expect((await mark("true")).status).to.equal(200);
    const make = (name: string, location: object = {}) => {
      const spec = { type: { name: "universal", path: "root" }, location };
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
      return server.send(`POST /clusters/root${WORKSPACES}`, workspace, root);
    };
    const phase = (name: string, wanted: string) =>
      untilAt(server, `/clusters/root${WORKSPACES}/${name}`, ({ body }) => body.status?.phase === wanted);
    for (const name of ["a", "b", "c"]) expect((await make(name)).status).to.equal(201);
    for (const name of ["a", "b", "c"]) {
      const { body } = await phase(name, "Ready");
      expect(body.metadata.annotations["core.kcp.io/shard"], name).to.equal("shard-1");
    }
    expect((await make("d", { selector: { matchLabels: { name: "root" } } })).status).to.equal(201);
    await phase("d", "Unavailable");
    expect((await mark(null)).status).to.equal(200);
    await phase("d", "Ready");
  });

  it("close inactive logical clusters, serve their own views, and share the readers of metrics", async () => {
    await using stores = new Stores();
    const who = (name: string) => [
      defineVirtualWorkspace({
        name: "who",
        path: "/",
        authorize: () => allow(),
        handle: (_, res) => void res.end(name),
      }),
    ];
    await using server = await startSharded(stores, { shards: { virtualWorkspaces: who } });
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const shard = await shardAt(server, "shard-1");
    expect((await shard.get("/services/who/")).text).to.equal("shard-1");
    expect((await server.get("/services/who/", root)).status).to.equal(404);
    expect([(await shard.get("/metrics", root)).status, (await shard.get("/metrics")).status]).to.deep.equal([
      200, 403,
    ]);
    const headers = { "content-type": "application/merge-patch+json" };
    const path = `/clusters/${far}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster` as const;
    const patch = { metadata: { annotations: { "core.kcp.io/inactive": "true" } } };
    expect((await server.send(`PATCH ${path}`, patch, { ...root, headers })).status).to.equal(200);
    for (const at of [server, shard]) {
      const shut = await untilAt(at, `/clusters/root:far${CONFIG_MAPS}`, ({ status }) => status !== 200);
      expect(shut.body.message).to.include("logical cluster is marked inactive");
    }
  });

  it("write an audit log file each", async () => {
    const folder = await memoryFolder("audit-");
    try {
      await using stores = new Stores();
      const to = join(folder, "audit.log");
      const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] } as const;
      {
        await using server = await startSharded(stores, { audit: audit({ policy, to }) });
        const shard = await shardAt(server, "shard-1");
        expect((await shard.get("/clusters/system:admin/api/v1/namespaces?at=shard", root)).status).to.equal(200);
        expect((await server.get("/clusters/system:admin/api/v1/namespaces?at=server", root)).status).to.equal(200);
      }
      const lines = (name: string) => readFileSync(join(folder, name), "utf8").split("\n");
      const asked = (name: string, at: string) => lines(name).filter((line) => line.includes(`?at=${at}`)).length;
      for (const [name, own, other] of [
        ["audit.log", "server", "shard"],
        ["audit-shard-1.log", "shard", "server"],
      ] as const)
        expect([asked(name, own) > 0, asked(name, other)], name).to.deep.equal([true, 0]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
