// A controller's informers over the views of two shards, one of which fails. Its objects are neither removed nor deleted, the other
// shard continues, and missed events follow afterwards.

import { apiExportView } from "@virtual-workspaces/apiexport";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Client, endpointInformers, Informer } from "@virtual-workspaces/client";
import { APIExportEndpointSlice } from "@virtual-workspaces/kcp";
import { type Store, StoreError } from "@virtual-workspaces/store";
import { builtInKinds, type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { type Relay, startRelay } from "../../_support/relay.ts";
import { until } from "../../_support/until.ts";
import { makeOn, Stores, startSharded } from "../../workspace-server/shards/support.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { Provider, WIDGETS, widget } from "./support/provider.ts";

const Widget: KindReference<{ readonly spec?: { readonly size?: number } }> = {
  ...{ group: "example.dev", version: "v1", kind: "Widget", plural: "widgets", scope: "Cluster" },
};
const root = { user: "root" };
const NOWHERE = 1;

/** Store with a failing disk: its calls and watches fail. */
class Failing {
  readonly store: Store;
  #gone = Promise.withResolvers<never>();
  #isGone = false;

  constructor(store: Store) {
    this.#gone.promise.catch(() => undefined);
    this.store = new Proxy(store, {
      get: (target, property) => {
        const value = Reflect.get(target, property, target);
        if (typeof value !== "function") return value;
        if (property === "watch") return (...args: Parameters<Store["watch"]>) => this.#watch(target, args);
        if (!["get", "range", "commit", "head"].includes(String(property))) return value.bind(target);
        return (...args: unknown[]) =>
          this.#isGone ? Promise.reject(new StoreError("Unavailable", "the disk is gone")) : value.apply(target, args);
      },
    });
  }

  fail(): void {
    this.#isGone = true;
    this.#gone.reject(new StoreError("Unavailable", "the disk is gone"));
  }

  mend(): void {
    this.#isGone = false;
    this.#gone = Promise.withResolvers();
    this.#gone.promise.catch(() => undefined);
  }

  #watch(target: Store, args: Parameters<Store["watch"]>): ReturnType<Store["watch"]> {
    const { promise: gone } = this.#gone;
    const watch = target.watch(...args);
    return new Proxy(watch, {
      get: (all, property) => {
        const value = Reflect.get(all, property, all);
        if (property !== Symbol.asyncIterator) return typeof value === "function" ? value.bind(all) : value;
        return () => {
          const batches = all[Symbol.asyncIterator]();
          return {
            next: () => Promise.race([batches.next(), gone]),
            return: () => batches.return?.() ?? Promise.resolve({ done: true, value: undefined }),
          };
        };
      },
    });
  }
}

describe("the views of two shards", function () {
  this.timeout(90_000);
  const stores = new Stores();
  const failing = new Failing(stores.of("shard-1"));
  const clusters: Record<string, string> = {};
  let port = NOWHERE;
  let listening = NOWHERE;
  let wire: Relay;
  let server: Workspaces;
  let provider: Provider;

  const viewOver = ({ upstream, identity }: Loopback) =>
    apiExportView({
      upstream,
      identity,
      kinds: builtInKinds.map(({ resource }) => resource),
      allowCache: 0,
      onError: () => undefined,
    });

  before(async () => {
    const own = loopback();
    wire = await startRelay(() => port);
    server = await startSharded(stores, {
      loopback: own,
      virtualWorkspaces: [viewOver(own)],
      shards: {
        storeOf: (name) => (name === "shard-1" ? failing.store : stores.of(name)),
        virtualWorkspaces: (_, context) => [viewOver(context.loopback)],
        urls: (_, at) => {
          port = listening = at.port;
          return { virtualWorkspaceURL: `http://127.0.0.1:${wire.port}` };
        },
      },
    });
    provider = await Provider.in(server, await makeOn(server, "provider", { shard: "root" }));
    for (const shard of ["root", "shard-1"]) {
      clusters[shard] = await makeOn(server, `on-${shard}`, { shard });
      await provider.bind(clusters[shard]);
      await provider.post(clusters[shard], WIDGETS, widget("a"));
    }
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await wire?.[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });

  const send = async (
    method: string,
    shard: string,
    { name, size }: { name: string; size?: number },
  ): Promise<number> => {
    const path: `/${string}` = `/clusters/${clusters[shard]}${WIDGETS}`;
    const headers = { "content-type": "application/merge-patch+json" };
    if (method === "POST") return (await server.send(`POST ${path}`, widget(name, size), root)).status;
    const body = method === "PATCH" ? { spec: { size } } : undefined;
    return (await server.send(`${method} ${path}/${name}`, body, { ...root, headers })).status;
  };

  /** Returns the events of widgets that a controller's sources deliver. */
  function follow() {
    const told: string[] = [];
    const failures: string[] = [];
    const credentials = (user: string) => ({ get: () => ({ headers: ["Authorization", `Bearer ${user}`] }) });
    const client = new Client({
      upstream: { url: server.url, credentials: credentials("root") },
      cluster: provider.cluster,
    });
    const shards = endpointInformers({
      resource: client.resource(APIExportEndpointSlice),
      name: "widgets",
      connect: (url) => ({ upstream: { url, credentials: credentials("alice") }, cluster: "*" }),
      informers: { widgets: ({ client }) => new Informer({ resource: client.resource(Widget) }).start() },
      onError: ({ error, url }) => failures.push(`${url} ${error}`),
    });
    const shardOf = (cluster: string) => (cluster === clusters["root"] ? "root" : "shard-1");
    const { widgets } = shards.sources;
    widgets.on({
      added: ({ spec }, { key }) => void told.push(`${shardOf(key.cluster)} ${key.name} added ${spec?.size}`),
      updated: ({ spec }, _, { key }) => void told.push(`${shardOf(key.cluster)} ${key.name} updated ${spec?.size}`),
      deleted: (_, { key }) => void told.push(`${shardOf(key.cluster)} ${key.name} deleted`),
      gone: (_, { key }) => void told.push(`${shardOf(key.cluster)} ${key.name} gone`),
    });
    return {
      ...{ told, failures, shards, widgets },
      ready: () => shards.endpoints.statuses.map(({ ready }) => ready),
      [Symbol.asyncDispose]: async () => {
        await shards[Symbol.asyncDispose]();
        await client[Symbol.asyncDispose]();
      },
    };
  }

  it("after a failure of the listener count no object as deleted, and deliver missed events afterwards", async () => {
    await using it = follow();
    await it.shards.synced;
    await until(() => it.told.length === 2, { what: "both" });
    expect(it.told).to.have.members(["root a added 1", "shard-1 a added 1"]);
    expect(await send("POST", "shard-1", { name: "b" })).to.equal(201);
    await until(() => it.told.length === 3, { what: "b" });
    it.told.length = 0;
    port = NOWHERE;
    wire.cut();
    await until(() => it.failures.length > 0, { what: "a failure" });
    expect(await send("PATCH", "shard-1", { name: "a", size: 2 })).to.equal(200);
    expect(await send("DELETE", "shard-1", { name: "b" })).to.equal(200);
    expect(await send("POST", "shard-1", { name: "c", size: 3 })).to.equal(201);
    expect(await send("PATCH", "root", { name: "a", size: 2 })).to.equal(200);
    await until(() => it.told.length === 1, { what: "the other" });
    expect(it.told).to.deep.equal(["root a updated 2"]);
    expect(it.widgets.store.list()).to.have.length(3);
    port = listening;
    await until(() => it.told.length === 4, { what: "all of it" });
    expect(it.told.slice(1)).to.have.members(["shard-1 a updated 2", "shard-1 b deleted", "shard-1 c added 3"]);
    expect(await send("DELETE", "shard-1", { name: "c" })).to.equal(200);
    await until(() => it.told.length === 5, { what: "c" });
  });

  it("after a failure of the store do the same, and show new clients the objects of the other shard", async () => {
    await using it = follow();
    await it.shards.synced;
    await until(() => it.told.length === 2, { what: "both" });
    it.told.length = 0;
    failing.fail();
    expect(await send("PATCH", "shard-1", { name: "a", size: 4 })).to.equal(503);
    // Open watches may stay; new requests get an error.
    wire.cut();
    await using late = follow();
    await late.shards.synced;
    await until(() => late.told.length === 1, { what: "its" });
    expect(late.ready()).to.have.members(["True", "False"]);
    expect(late.failures.join("\n")).to.match(/the storage is unavailable: try again/);
    expect(await send("PATCH", "root", { name: "a", size: 5 })).to.equal(200);
    await until(() => it.told.length === 1 && late.told.length === 2, { what: "the other" });
    expect(it.told).to.deep.equal(["root a updated 5"]);
    expect(it.widgets.store.list()).to.have.length(2);
    failing.mend();
    expect(await send("PATCH", "shard-1", { name: "a", size: 6 })).to.equal(200);
    await until(() => it.told.length === 2 && late.told.length === 3, { what: "it" });
    expect(it.told.at(-1)).to.equal("shard-1 a updated 6");
    expect(late.told.at(-1)).to.equal("shard-1 a added 6");
    expect(late.ready()).to.deep.equal(["True", "True"]);
    expect(await send("DELETE", "shard-1", { name: "a" })).to.equal(200);
    await until(() => it.told.length === 3 && late.told.length === 4, { what: "the last" });
    expect([it.told.at(-1), late.told.at(-1)]).to.deep.equal(["shard-1 a deleted", "shard-1 a deleted"]);
    expectFault(/logged error: part of a shard failed {"shard":"shard-1",.*the disk is gone/);
  });
});
