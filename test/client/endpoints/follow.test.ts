// followEndpoints with any object that lists URLs, any servers, and custom functions.

import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type Endpoint, endpointUrls, followEndpoints } from "@virtual-workspaces/client";
import { expect } from "chai";
import { startRelay } from "../../_support/relay.ts";
import { until } from "../../_support/until.ts";
import { clientOf, EndpointSlice, type Slices, startSlices } from "../support/shard.ts";

describe("followEndpoints", () => {
  let slices: Slices;
  beforeEach(async () => {
    slices = await startSlices();
  });
  afterEach(() => slices[Symbol.asyncDispose]());

  /** Follows endpoints with a `start` that records its calls. */
  function record(client = slices.client, options: { urls?: (object: object) => string[] } = {}) {
    const told: string[] = [];
    const failures: unknown[] = [];
    const start = ({ url, signal }: Endpoint): AsyncDisposable => {
      told.push(`+ ${url}`);
      return {
        async [Symbol.asyncDispose]() {
          expect(signal.aborted).to.equal(true);
          told.push(`- ${url}`);
        },
      };
    };
    const endpoints = followEndpoints({
      resource: client.resource(EndpointSlice),
      name: "shards",
      connect: (url) => ({ upstream: { url } }),
      start,
      onError: ({ error }) => void failures.push(error),
      ...options,
    });
    return { told, failures, endpoints, [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose]() };
  }

  it("starts and stops the code of each URL, and stops all at the end", async () => {
    slices.list("http://a", "http://b");
    const it = record();
    await it.endpoints.synced;
    slices.list("http://c", "http://b");
    await until(() => it.told.length === 4, { what: "one goes, one comes" });
    await it[Symbol.asyncDispose]();
    expect(it.told.slice(0, 2)).to.eql(["+ http://a", "+ http://b"]);
    expect(it.told.slice(2, 4).sort()).to.eql(["+ http://c", "- http://a"]);
    expect(it.told.slice(4).sort()).to.eql(["- http://b", "- http://c"]);
    slices.list("http://d");
    expect(it.endpoints.statuses).to.eql([]);
  });

  it("takes URLs from a custom function", async () => {
    slices.slices.in("root").set("shards", { export: { name: "http://from.spec" } });
    await using it = record(slices.client, {
      urls: (object) => [(object as { spec: { export: { name: string } } }).spec.export.name],
    });
    await it.endpoints.synced;
    expect(it.told).to.eql(["+ http://from.spec"]);
  });

  it("keeps endpoints running if the URLs are unreadable", async () => {
    slices.list("http://a");
    let fails = false;
    await using it = record(slices.client, {
      urls: () => {
        if (fails) throw new Error("no idea");
        return ["http://a"];
      },
    });
    await it.endpoints.synced;
    fails = true;
    slices.list();
    await until(() => it.failures.length === 1, { what: "reported" });
    expect(it.endpoints.statuses.map(({ url, ready }) => [url, ready])).to.eql([["http://a", "True"]]);
  });

  it("keeps endpoints running while the watch fails, and catches up", async () => {
    slices.list("http://a");
    await using relay = await startRelay(Number(new URL(slices.client.upstream.url).port));
    await using client = clientOf(slices.client.upstream.url.replace(/:\d+/, `:${relay.port}`), slices.token);
    await using it = record(client.cluster("root"));
    await it.endpoints.synced;
    for (const name of ["b", "c", "d"]) {
      relay.cut();
      slices.list(`http://${name}`);
      await until(() => it.told.at(-1) === `+ http://${name}` || it.told.at(-2) === `+ http://${name}`, { what: name });
    }
    expect(it.told.filter((text) => text.startsWith("+"))).to.eql(
      ["a", "b", "c", "d"].map((name) => `+ http://${name}`),
    );
  });

  it("watches all objects if the server cannot select one by name", async () => {
    const target = new URL(slices.client.upstream.url);
    const asked: string[] = [];
    const proxy = createServer((req, res) => {
      const path = req.url ?? "";
      asked.push(path.includes("fieldSelector") ? "one" : "all");
      if (path.includes("fieldSelector")) {
        const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 400, message: "no" };
        res.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify(status));
        return;
      }
      const inner = request({ host: target.hostname, port: target.port, path, headers: req.headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(res);
      });
      inner.on("error", () => res.destroy()).end();
      res.on("close", () => inner.destroy());
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    slices.list("http://a");
    slices.slices.in("root").set("others", {});
    slices.slices.in("root").setStatus("others", { endpoints: [{ url: "http://wrong" }] });
    await using client = clientOf(slices.client.upstream.url.replace(target.port, String(port)), slices.token);
    const it = record(client.cluster("root"));
    await it.endpoints.synced;
    slices.slices.in("root").setStatus("others", { endpoints: [{ url: "http://worse" }] });
    slices.slices.in("root").delete("others");
    slices.list("http://b");
    await until(() => it.told.length === 3, { what: "the change" });
    await it[Symbol.asyncDispose]();
    expect(it.told.filter((text) => text.startsWith("+"))).to.eql(["+ http://a", "+ http://b"]);
    expect(asked.slice(0, 3)).to.eql(["one", "all", "all"]);
    expect(it.failures).to.eql([]);
    proxy.close();
    proxy.closeAllConnections();
    await once(proxy, "close");
  });

  it("stops when its signal aborts, and rejects `synced`", async () => {
    const abort = new AbortController();
    const resource = slices.client.resource(EndpointSlice);
    const connect = (url: string) => ({ upstream: { url } });
    const options = { resource, name: "shards", connect, start: () => undefined, onError: () => undefined };
    const endpoints = followEndpoints({ ...options, signal: abort.signal });
    abort.abort();
    expect(await endpoints.synced.catch(String)).to.match(/closed before the object was read/);
    await endpoints[Symbol.asyncDispose]();
  });

  it("reads the lists of endpoint slices, exports and workspace types", () => {
    const object = { apiVersion: "v1", kind: "X", metadata: {} };
    const status = {
      endpoints: [{ url: "https://a" }, { url: 1 }, null],
      virtualWorkspaces: [{ url: "https://b", type: "initializing" }, {}],
    };
    expect(endpointUrls({ ...object, status })).to.eql(["https://a", "https://b"]);
    expect(endpointUrls({ ...object, status }, { type: "initializing" })).to.eql(["https://b"]);
    expect(endpointUrls({ ...object, status }, { type: "terminating" })).to.eql([]);
    for (const nothing of [undefined, null, [], { endpoints: {} }, "text"])
      expect(endpointUrls({ ...object, status: nothing })).to.eql([]);
  });
});
