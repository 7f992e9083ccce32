// Shards added and removed while the server runs, by their objects and by calls, and over restarts.
import { expect } from "chai";
import {
  CONFIG_MAPS,
  conditionOf,
  configMap,
  IN_PROCESS,
  makeOn,
  namesIn,
  root,
  SHARDS,
  Stores,
  shardAt,
  shardObject,
  startSharded,
  untilAt,
  untilShard,
  WORKSPACES,
} from "./support.ts";

describe("shards added and removed at run time", function () {
  this.timeout(30_000);

  it("start with their object, created by an authorized user, and stop after its deletion once they are empty", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores, { shards: { names: [] } });
    expect((await server.send(`POST ${SHARDS}`, shardObject("amber"))).status, "alice").to.equal(403);
    const made = await server.send(`POST ${SHARDS}`, shardObject("amber"), { user: "admin" });
    expect(made.status, made.text).to.equal(201);
    const { body } = await untilShard(server, "amber", "ready");
    expect(body.metadata.labels).to.deep.equal({ name: "amber" });
    expect(body.spec.externalURL).to.equal(server.url);
    const cluster = await makeOn(server, "one", { shard: "amber" });
    const shard = await shardAt(server, "amber");
    expect((await shard.get(`/clusters/${cluster}${CONFIG_MAPS}`, root)).status).to.equal(200);
    expect((await server.send(`DELETE ${SHARDS}/amber`, undefined, { user: "admin" })).status).to.equal(200);
    const held = await untilAt(server, `${SHARDS}/amber`, (answer) => conditionOf(answer, "ShardEmpty") !== undefined);
    expect(conditionOf(held, "ShardEmpty")).to.include({
      status: "False",
      reason: "LogicalClustersRemain",
      message: "the shard still has logical clusters: 1 (root:one); delete their workspaces to remove the shard",
    });
    expect((await shard.get(`/clusters/${cluster}${CONFIG_MAPS}`, root)).status, "it serves on").to.equal(200);
    // No new workspace is scheduled to it, even by selector.
    const spec = {
      type: { name: "universal", path: "root" },
      location: { selector: { matchLabels: { name: "amber" } } },
    };
    const late = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "late" }, spec };
    expect((await server.send(`POST /clusters/root${WORKSPACES}`, late, root)).status).to.equal(201);
    await untilAt(
      server,
      `/clusters/root${WORKSPACES}/late`,
      ({ body: { status } }) => status?.phase === "Unavailable",
    );
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/one`, undefined, root)).status).to.equal(200);
    await untilAt(server, `${SHARDS}/amber`, ({ status }) => status === 404);
    await shard.get("/livez").then(
      () => expect.fail("it listens still"),
      (error: { readonly code: string }) => expect(error.code).to.equal("ECONNREFUSED"),
    );
    expect((await server.get("/readyz", root)).text).to.equal("ok");
    // A new one of that name uses the previous store.
    expect((await server.send(`POST ${SHARDS}`, shardObject("amber"), { user: "admin" })).status).to.equal(201);
    await untilAt(server, `/clusters/root${WORKSPACES}/late`, ({ body: { status } }) => status?.phase === "Ready");
  });

  it("can be added and removed by calls", async () => {
    await using stores = new Stores();
    const opened: string[] = [];
    const closed: string[] = [];
    await using calls = await startSharded(stores, {
      shards: {
        names: [],
        storeOf: (name, { own }) => {
          opened.push(name);
          own.defer(() => void closed.push(name));
          return stores.of(name);
        },
      },
    });
    const { server } = calls;
    await server.addShard("shard-1");
    await server.addShard("shard-1");
    await makeOn(calls, "one", { shard: "shard-1" });
    const impatient = AbortSignal.abort(new Error("no time"));
    await server.removeShard("shard-1", { signal: impatient }).then(
      () => expect.fail("there is something on it"),
      (error: Error) => expect(error.message).to.equal("no time"),
    );
    expect((await calls.send(`DELETE /clusters/root${WORKSPACES}/one`, undefined, root)).status).to.equal(200);
    await server.removeShard("shard-1");
    await server.removeShard("shard-1");
    expect([opened, closed]).to.deep.equal([["shard-1"], ["shard-1"]]);
    for (const name of ["root", "Shard", "a/b", ""])
      await server.addShard(name).then(
        () => expect.fail(name),
        (error: Error) => expect(error.message).to.match(/invalid shard name/),
      );
  });

  it("start again with the server and their content, without repeated writes", async () => {
    await using stores = new Stores();
    let far: string;
    let before: unknown;
    const look = async (server: Parameters<typeof shardAt>[0]) => {
      const paths = [`/clusters/root${WORKSPACES}/far`, `/clusters/root:far${WORKSPACES}/child`];
      const answers = await Promise.all(paths.map((path) => server.get(path, root)));
      return answers.map(({ body }) => [body.metadata.resourceVersion, body.status.phase]);
    };
    {
      await using server = await startSharded(stores, { urls: () => ({ externalURL: "https://kcp.test" }) });
      far = await makeOn(server, "far", { shard: "shard-1" });
      await makeOn(server, "child", { shard: "root", at: "root:far" });
      expect((await server.send(`POST ${SHARDS}`, shardObject("amber"), root)).status).to.equal(201);
      await untilShard(server, "amber", "ready");
      await makeOn(server, "other", { shard: "amber" });
      expect((await server.send(`POST /clusters/root:far${CONFIG_MAPS}`, configMap("a"), root)).status).to.equal(201);
      await untilAt(
        server,
        `/clusters/root:far${WORKSPACES}/child`,
        ({ body }) => body.metadata.labels?.["tenancy.kcp.io/phase"] === "Ready",
      );
      await untilAt(
        server,
        `/clusters/root${WORKSPACES}/far`,
        ({ body }) => body.metadata.labels?.["tenancy.kcp.io/phase"] === "Ready",
      );
      before = await look(server);
    }
    await using server = await startSharded(stores, { urls: () => ({ externalURL: "https://kcp.test" }) });
    expect(namesIn(await server.get(`/clusters/root:far${CONFIG_MAPS}`, root))).to.include("a");
    expect(namesIn(await server.get(`/clusters/${far}${CONFIG_MAPS}`, root))).to.include("a");
    expect((await server.get(`/clusters/root:other${CONFIG_MAPS}`, root)).status).to.equal(200);
    expect(await look(server)).to.deep.equal(before);
    await makeOn(server, "more", { shard: "shard-1" });
    expect(await look(server)).to.deep.equal(before);
  });

  it("stop with their last workspace, even after a restart", async () => {
    await using stores = new Stores();
    {
      await using server = await startSharded(stores, { shards: { names: ["amber"] } });
      await makeOn(server, "one", { shard: "amber" });
      expect((await server.send(`DELETE ${SHARDS}/amber`, undefined, root)).status).to.equal(200);
    }
    await using server = await startSharded(stores, { shards: { names: [] } });
    await untilAt(server, `${SHARDS}/amber`, (answer) => conditionOf(answer, "ShardEmpty") !== undefined);
    expect((await server.get(`/clusters/root:one${CONFIG_MAPS}`, root)).status).to.equal(200);
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/one`, undefined, root)).status).to.equal(200);
    await untilAt(server, `${SHARDS}/amber`, ({ status }) => status === 404);
    expect(namesIn(await server.get(SHARDS, root))).to.deep.equal(["root"]);
  });

  it("exclude Shards of other servers and workspaces, and never change their server", async () => {
    await using stores = new Stores();
    const opened: string[] = [];
    const storeOf = (name: string) => {
      opened.push(name);
      return stores.of(name);
    };
    await using server = await startSharded(stores, { shards: { storeOf } });
    const other = { ...shardObject("other"), metadata: { name: "other" } };
    const none = await server.send(`POST ${SHARDS}`, other, root);
    expect([none.status, none.body.message]).to.deep.equal([500, "Internal error occurred: spec.baseURL is required"]);
    const spec = { baseURL: "https://other.test" };
    expect((await server.send(`POST ${SHARDS}`, { ...other, spec }, root)).status).to.equal(201);
    const headers = { "content-type": "application/merge-patch+json" };
    const patch = (name: string, annotations: object) =>
      server.send(`PATCH ${SHARDS}/${name}`, { metadata: { annotations } }, { ...root, headers });
    for (const answer of [
      await patch("other", IN_PROCESS),
      await patch("shard-1", { "virtual-workspaces.io/in-process": null }),
    ]) {
      expect(answer.status).to.equal(403);
      expect(answer.body.message).to.include("cannot be changed: set it when you create the Shard");
    }
    const near = await makeOn(server, "near", { shard: "root" });
    const elsewhere = `/clusters/${near}/apis/core.kcp.io/v1alpha1/shards` as const;
    expect((await server.send(`POST ${elsewhere}`, shardObject("mine"), root)).status).to.be.oneOf([404, 500]);
    const given = { ...shardObject("mine"), spec };
    expect((await server.send(`POST ${elsewhere}`, given, root)).status).to.be.oneOf([404, 201]);
    await server.server.addShard("after");
    for (const name of ["root", "other"])
      await server.server.removeShard(name).then(
        () => expect.fail(name),
        (error: Error) => expect(error.message).to.include("is another server's"),
      );
    expect(opened).to.deep.equal(["shard-1", "after"]);
    await server[Symbol.asyncDispose]();
    await startSharded(stores, { shards: { names: ["other"] } }).then(
      () => expect.fail("it is another's"),
      (error: Error) => expect(error.message).to.include("is another server's"),
    );
  });
});
