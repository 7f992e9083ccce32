// Why: a provider runs one controller for all shards, for months, while shards come and go. It must see every object.
import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Client, controller, endpointInformers, Informer } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { forward, type Workspaces as Over } from "@virtual-workspaces/forwarding";
import { defineResource, defineVirtualWorkspace, groups, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { APIExportEndpointSlice } from "@virtual-workspaces/kcp";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import noticeboard, { manifests } from "../../../examples/over-workspaces/noticeboard.ts";
import { callsTo } from "../../_support/plain.ts";
import { bindingOf, exportOf } from "../../workspace-server/bindings/support/shard.ts";
import {
  CONFIG_MAPS,
  configMap,
  makeOn,
  root,
  SHARDS,
  Stores,
  shardObject,
  startSharded,
  untilAt,
  WORKSPACES,
} from "../../workspace-server/shards/support.ts";
import { define } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";

const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
const BINDINGS = "/apis/apis.kcp.io/v1alpha2/apibindings";
const SLICE = "/clusters/root/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/maps";

/** View over one shard, at the URLs that the server publishes for views of exports. */
function exported({ upstream, identity }: Over): VirtualWorkspace {
  const configMaps = forward({ resource: ConfigMap, upstream, identity });
  return defineVirtualWorkspace({
    name: "apiexport",
    path: "/:owner/:export/clusters/:cluster",
    wildcard: true,
    authorize: groups("system:masters"),
    ready: configMaps.ready,
    setup: () => configMaps,
    resources: [ConfigMap.serve(configMaps)],
  });
}

/** Source of the URLs. */
interface Followed {
  readonly resource: KindReference<object>;
  readonly name: string;
}

const NOTICEBOARD = {
  group: "example.dev",
  version: "v1",
  kind: "Noticeboard",
  plural: "noticeboards",
  scope: "Cluster",
} as const;
const BOARD = "/clusters/root/apis/example.dev/v1/noticeboards";

/** Server of a provider, and the objects that its controller has seen. */
class Provider implements AsyncDisposable {
  readonly server: Workspaces;
  /** Existing test objects, as the controller knows them. */
  readonly known = new Set<string>();
  /** All test objects that the controller has ever seen. */
  readonly heard = new Set<string>();
  readonly failures: unknown[] = [];
  readonly #stack = new AsyncDisposableStack();
  readonly informers;

  constructor(server: Workspaces, { resource, name }: Followed = { resource: APIExportEndpointSlice, name: "maps" }) {
    this.server = this.#stack.use(server);
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer root"] }) };
    const client = this.#stack.use(new Client({ upstream: { url: server.url, credentials } }));
    this.informers = this.#stack.use(
      endpointInformers({
        resource: client.cluster("root").resource<object>(resource),
        name,
        connect: (url) => ({ upstream: { url, credentials }, cluster: "*" }),
        informers: { maps: ({ client: each }) => new Informer({ resource: each.resource(ConfigMap) }).start() },
        onError: ({ error }) => this.failures.push(error),
      }),
    );
    this.#stack.use(
      controller({
        name: "maps",
        sources: [{ informer: this.informers.sources.maps }],
        reconcile: (key, { object }) => {
          if (!key.name.startsWith("ours-")) return;
          if (object === undefined) this.known.delete(keyText(key));
          else this.known.add(keyText(key));
          this.heard.add(keyText(key));
        },
        gone: (key) => void this.known.delete(keyText(key)),
        onError: ({ error }) => this.failures.push(error),
      }),
    );
  }

  static async start(stores: Stores): Promise<Provider> {
    const own = loopback();
    const server = await startSharded(stores, {
      loopback: own,
      virtualWorkspaces: [exported(own)],
      shards: { virtualWorkspaces: (_, { loopback: each }) => [exported(each)] },
    });
    const made = await server.send(
      "POST /clusters/root/apis/apis.kcp.io/v1alpha2/apiexports",
      exportOf("maps", []),
      root,
    );
    expect(made.status, made.text).to.equal(201);
    return new Provider(server);
  }

  get urls(): string[] {
    return this.informers.endpoints.statuses.map(({ url }) => url);
  }

  async bind(cluster: string): Promise<void> {
    const made = await this.server.send(`POST /clusters/${cluster}${BINDINGS}`, bindingOf("maps", "root:maps"), root);
    expect(made.status, made.text).to.equal(201);
  }

  async put(cluster: string, name: string): Promise<string> {
    const made = await this.server.send(`POST /clusters/${cluster}${CONFIG_MAPS}`, configMap(name), root);
    expect(made.status, made.text).to.equal(201);
    return `${cluster}|default/${name}`;
  }

  async until(what: string, is: () => boolean): Promise<void> {
    for (const end = performance.now() + 20_000; !is(); await new Promise((resolve) => setTimeout(resolve, 2)))
      if (performance.now() > end)
        throw new Error(`it never came to this: ${what}; known: ${[...this.known].join()}; ${this.failures.join()}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

describe("a controller over an export's endpoint slices", function () {
  this.timeout(60_000);

  it("adds and removes informers with the shards, and misses nothing", async () => {
    await using stores = new Stores();
    await using provider = await Provider.start(stores);
    const { server, known } = provider;
    const near = await makeOn(server, "near", { shard: "root" });
    const first = await provider.put(near, "ours-first");
    expect(provider.urls, "nobody has bound it").to.deep.equal([]);
    await provider.bind(near);
    await provider.until("what was there before", () => known.has(first));

    // A new shard, with objects from before and after its URL.
    const made = await server.send(`POST ${SHARDS}`, shardObject("amber"), root);
    expect(made.status, made.text).to.equal(201);
    const far = await makeOn(server, "far", { shard: "amber" });
    const before = await provider.put(far, "ours-before");
    await provider.bind(far);
    const during = await provider.put(far, "ours-during");
    await provider.until("both of the new shard", () => known.has(before) && known.has(during));
    expect(provider.urls).to.have.length(2);
    expect([...known].sort()).to.deep.equal([before, during, first].sort());

    // Deleting the last binding removes the URL and the informer. Objects without a seen deletion do not count as deleted.
    const call = `DELETE /clusters/${far}${BINDINGS}/maps` as const;
    expect((await server.send(call, undefined, root)).status).to.equal(200);
    await provider.until("one endpoint is left", () => provider.urls.length === 1 && known.size === 1);
    const unseen = await provider.put(far, "ours-unseen");
    await untilAt(server, `/clusters/${far}${BINDINGS}/maps`, ({ status }) => status === 404);
    await provider.bind(far);
    await provider.until("all of it again", () => [before, during, unseen].every((name) => known.has(name)));

    // Deletes the shard, after its objects.
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/far`, undefined, root)).status).to.equal(200);
    expect((await server.send(`DELETE ${SHARDS}/amber`, undefined, root)).status).to.equal(200);
    await untilAt(server, `${SHARDS}/amber`, ({ status }) => status === 404);
    await provider.until("what is left", () => provider.urls.length === 1 && known.size === 1);
    const last = await provider.put(near, "ours-last");
    await provider.until("the others go on", () => known.has(last));
  });

  it("sees every object, even those created while shards come and go", async () => {
    await using stores = new Stores();
    await using provider = await Provider.start(stores);
    const { server } = provider;
    const places = [await makeOn(server, "near", { shard: "root" }), await makeOn(server, "far", { shard: "shard-1" })];
    for (const place of places) await provider.bind(place);
    const stop = new AbortController();
    const written: string[] = [];
    const busy = new Set<string>();
    const storm = (async () => {
      for (let at = 0; !stop.signal.aborted; at++) {
        const place = places[at % places.length] ?? "";
        busy.add(place);
        written.push(await provider.put(place, `ours-${at}`));
        busy.delete(place);
      }
    })();
    for (const name of ["amber", "blue", "coral"]) {
      expect((await server.send(`POST ${SHARDS}`, shardObject(name), root)).status).to.equal(201);
      const cluster = await makeOn(server, `on-${name}`, { shard: name });
      await provider.bind(cluster);
      places.push(cluster);
    }
    await untilAt(server, SLICE, ({ body }) => body.status.endpoints.length === 5);
    await provider.until("five endpoints", () => provider.urls.length === 5);
    const isAll = (): boolean => new Set(written.map(clusterOf)).size === 5;
    await provider.until("objects everywhere", isAll);

    // Removes one shard after its objects are known. Nothing is written there afterwards.
    const [leaving = ""] = places.splice(3, 1);
    const onIt = (): string[] => written.filter((name) => clusterOf(name) === leaving);
    await provider.until(
      "all that is on it",
      () => !busy.has(leaving) && onIt().every((name) => provider.known.has(name)),
    );
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/on-blue`, undefined, root)).status).to.equal(200);
    expect((await server.send(`DELETE ${SHARDS}/blue`, undefined, root)).status).to.equal(200);
    await untilAt(server, `${SHARDS}/blue`, ({ status }) => status === 404);
    await provider.until("four endpoints", () => provider.urls.length === 4);
    stop.abort();
    await storm;
    const left = written.filter((name) => clusterOf(name) !== leaving).sort();
    await provider.until("all that is left", () => [...provider.known].sort().join() === left.join());
    expect(written.every((name) => provider.heard.has(name))).to.equal(true);
  });
});

describe("a controller over the URLs of an own view", function () {
  this.timeout(60_000);

  it("adds and removes informers with the shards, and misses nothing", async () => {
    await using stores = new Stores();
    const own = loopback();
    const server = await startSharded(stores, {
      loopback: own,
      virtualWorkspaces: [noticeboard({ ...own, shard: "root" })],
      shards: {
        virtualWorkspaces: (shard, { loopback: each }) => [noticeboard({ ...each, shard, everywhere: own.upstream })],
      },
    });
    await define(server, "root", manifests);
    const { status, text } = await server.send(
      `POST ${BOARD}`,
      { apiVersion: "example.dev/v1", kind: "Noticeboard", metadata: { name: "main" }, spec: {} },
      root,
    );
    expect(status, text).to.equal(201);
    await using provider = new Provider(server, { resource: NOTICEBOARD, name: "main" });
    const pinned = (name: string): object => ({ ...configMap(name), metadata: { name, labels: { published: "yes" } } });
    const put = async (cluster: string, name: string): Promise<string> => {
      const made = await server.send(`POST /clusters/${cluster}${CONFIG_MAPS}`, pinned(name), root);
      expect(made.status, made.text).to.equal(201);
      return `${cluster}|default/${name}`;
    };
    await provider.until("a URL of each shard", () => provider.urls.length === 2);
    const near = await makeOn(server, "near", { shard: "root" });
    const first = await put(near, "ours-first");
    expect((await server.send(`POST ${SHARDS}`, shardObject("amber"), root)).status).to.equal(201);
    const far = await makeOn(server, "far", { shard: "amber" });
    const second = await put(far, "ours-second");
    await provider.put(far, "ours-unpublished");
    await provider.until("what is on both", () => provider.known.has(first) && provider.known.has(second));
    await provider.until("the URL of the new shard", () => provider.urls.length === 3);
    expect([...provider.known].sort()).to.deep.equal([first, second].sort());

    // The shard is deleted, and another publisher removes its URL.
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/far`, undefined, root)).status).to.equal(200);
    await provider.until("what was on it is gone", () => !provider.known.has(second));
    expect((await server.send(`DELETE ${SHARDS}/amber`, undefined, root)).status).to.equal(200);
    await provider.until("its URL is gone", () => provider.urls.length === 2);
    const last = await put(near, "ours-last");
    await provider.until("the others go on", () => provider.known.has(last));

    // A user without access to the board's content gets nothing at any URL, in any workspace.
    for (const url of provider.urls)
      for (const cluster of ["*", near])
        expect((await callsTo(url).get(`/clusters/${cluster}/api/v1/configmaps`)).status).to.equal(403);
  });
});

const clusterOf = (name: string): string => name.slice(0, name.indexOf("|"));
