// One of several shards fails: the others work, and the failure is reported.
import { StoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { outcome } from "../../_support/plain.ts";
import {
  CONFIG_MAPS,
  conditionOf,
  configMap,
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

const NOT_RUNNING = [503, "ServiceUnavailable", "a shard of this server does not run yet: try again"];

describe("a shard that fails", function () {
  this.timeout(30_000);

  it("to start delays no other shard, is reported, and starts when possible", async () => {
    await using stores = new Stores();
    let far: string;
    {
      await using server = await startSharded(stores);
      far = await makeOn(server, "far", { shard: "shard-1" });
      await makeOn(server, "near", { shard: "root" });
      await makeOn(server, "child", { shard: "root", at: "root:far" });
    }
    let isThere = false;
    const storeOf = (name: string) => {
      if (!isThere) throw new StoreError("Unavailable", `no disk for ${name}`);
      return stores.of(name);
    };
    await using server = await startSharded(stores, { shards: { storeOf } });
    expect((await server.send(`POST /clusters/root:near${CONFIG_MAPS}`, configMap("a"), root)).status).to.equal(201);
    expect((await server.get("/clusters/system:admin/api/v1/namespaces", root)).status).to.equal(200);
    // Objects that may be on it are neither created elsewhere nor reported as missing.
    for (const said of [far, "root:far", "root:far:child"]) {
      const path = `/clusters/${said}${CONFIG_MAPS}` as const;
      expect(outcome(await server.get(path, root)), said).to.deep.equal(NOT_RUNNING);
      expect(outcome(await server.send(`POST ${path}`, configMap("a"), root)), said).to.deep.equal(NOT_RUNNING);
    }
    const readyz = await server.get("/readyz?verbose");
    expect([readyz.status, readyz.text]).to.deep.equal([
      503,
      "[+]shutdown ok\n[+]clusters ok\n[+]shard ok\n[+]workspaces ok\n[+]cache ok\n[+]store ok\n[-]shards failed: reason withheld\nreadyz check failed\n",
    ]);
    const told = await untilShard(server, "shard-1", "not ready");
    expect(conditionOf(told, "Ready")).to.include({ reason: "NotStarted", message: "no disk for shard-1" });
    expect((await server.get(`/clusters/root${WORKSPACES}/far`, root)).body.status.phase, "it waits").to.equal("Ready");
    isThere = true;
    await untilAt(server, "/readyz", ({ status }) => status === 200);
    expect(namesIn(await server.get(`/clusters/root:far${CONFIG_MAPS}`, root))).to.deep.equal(["kube-root-ca.crt"]);
    expect((await server.get(`/clusters/root:far:child${CONFIG_MAPS}`, root)).status).to.equal(200);
    await untilShard(server, "shard-1", "ready");
    expectFault(/controller failed .*in-process-shards.*no disk for shard-1/);
  });

  it("on its very first start does not hide that a workspace is missing", async () => {
    await using stores = new Stores();
    const storeOf = (name: string) => {
      if (name === "bad") throw new Error("no such place");
      return stores.of(name);
    };
    await using server = await startSharded(stores, { shards: { storeOf } });
    expect((await server.send(`POST ${SHARDS}`, shardObject("bad"), root)).status).to.equal(201);
    await untilShard(server, "bad", "not ready");
    expect((await server.get(`/clusters/root:nothing${CONFIG_MAPS}`, root)).status).to.equal(404);
    expect((await server.get("/readyz")).status).to.equal(503);
    await server.server.addShard("bad").then(
      () => expect.fail("it cannot start"),
      (error: Error) => expect(error.message).to.equal("no such place"),
    );
    expectFault(/controller failed .*in-process-shards.*no such place/);
  });

  it("at run time does not affect other shards", async () => {
    await using stores = new Stores();
    let down = false;
    const storeOf = (name: string) =>
      new Proxy(stores.of(name), {
        get(target, property) {
          const value = Reflect.get(target, property, target);
          if (typeof value !== "function") return value;
          if (!down || !["get", "range", "commit", "head"].includes(String(property))) return value.bind(target);
          return () => Promise.reject(new StoreError("Unavailable", "the disk is gone"));
        },
      });
    await using server = await startSharded(stores, { shards: { storeOf } });
    const far = await makeOn(server, "far", { shard: "shard-1" });
    await makeOn(server, "near", { shard: "root" });
    const shard = await shardAt(server, "shard-1");
    down = true;
    const refused = await server.send(`POST /clusters/${far}${CONFIG_MAPS}`, configMap("a"), root);
    expect(refused.status, refused.text).to.equal(503);
    expect((await server.send(`POST /clusters/root:near${CONFIG_MAPS}`, configMap("a"), root)).status).to.equal(201);
    expect((await shard.get("/readyz?verbose")).text).to.include("[-]store failed");
    const readyz = (await server.get("/readyz?verbose")).text;
    expect(readyz).to.include("[+]store ok").and.to.include("[-]shards failed");
    expect((await server.get("/readyz/store")).status).to.equal(200);
    down = false;
    expect((await server.get("/readyz")).status).to.equal(200);
    expect((await server.send(`POST /clusters/${far}${CONFIG_MAPS}`, configMap("a"), root)).status).to.equal(201);
  });

  it("is aborted when the server closes during the start", async () => {
    await using stores = new Stores();
    const { promise: asked, resolve } = Promise.withResolvers<AbortSignal>();
    const storeOf = (_: string, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
      resolve(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    };
    await using server = await startSharded(stores, { shards: { storeOf, names: [] } });
    expect((await server.send(`POST ${SHARDS}`, shardObject("slow"), root)).status).to.equal(201);
    const signal = await asked;
    await server.server.close();
    expect(signal.aborted).to.equal(true);
  });
});
