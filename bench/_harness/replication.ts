// Why: cached resources need a provider's workspace with a kind and its export, and workspaces that bind it.
import assert from "node:assert/strict";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { crdManifest, schemaManifest } from "@virtual-workspaces/kcp";
import type { ReplicatedServer } from "../_servers/replicated.ts";
import { sharedNow } from "../_servers/tick.ts";
import { Widget } from "../_servers/widget-view.ts";
import { Remote } from "./remote.ts";
import { WorkspaceClient } from "./workspace-client.ts";

const WIDGETS = "/apis/bench.example/v1/widgets";
const CACHE = "/apis/cache.kcp.io/v1alpha1";
const APIS = "/apis/apis.kcp.io";
/** Clients at a time, and one that watches. */
const CONNECTIONS = 17;

/** Where the widgets are read: in the provider's workspace, in the view, or in a workspace that binds the export. */
export type Place = "source" | "view" | "workspace";

/** Fields of a list. */
export interface List {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Fields of the objects that are waited for. */
interface Found {
  readonly items?: readonly object[];
  readonly status?: { readonly phase?: string; readonly identityHash?: string };
}

/** A server with a provider's widgets, and workspaces that read them. */
export class Replication implements AsyncDisposable {
  readonly server: Remote<ReplicatedServer>;
  readonly port: number;
  readonly #client: WorkspaceClient;
  readonly #provider: string;
  readonly #consumers: string[] = [];
  readonly #spec: object;
  readonly #agent = new Agent({ keepAlive: true });
  #added = 0;

  private constructor(
    server: Remote<ReplicatedServer>,
    at: { readonly port: number; readonly provider: string },
    bytes: number,
  ) {
    this.server = server;
    this.port = at.port;
    this.#client = new WorkspaceClient(at.port, CONNECTIONS);
    this.#provider = at.provider;
    this.#spec = { text: "x".repeat(bytes) };
  }

  /** Starts a server whose workspace `root:provider` exports its widgets, of which there are so many of about so many bytes. */
  static async start({ count, bytes }: { readonly count: number; readonly bytes: number }): Promise<Replication> {
    const server = await Remote.start<ReplicatedServer>("replicated", ["--expose-gc"]);
    const port = await server.ask("listen");
    using first = new WorkspaceClient(port, CONNECTIONS);
    const provider = (await first.make(["provider"])).get("provider") ?? "";
    const made = new Replication(server, { port, provider }, bytes);
    await made.#create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crdManifest(Widget));
    await made.#until(made.path("source"), ({ items }) => items !== undefined);
    const names = Array.from({ length: count }, (_, at) => `w${String(at).padStart(5, "0")}`);
    await made.#client.each(names, (name) => made.#create(WIDGETS, { ...widget(name), spec: made.#spec }));
    await made.#export();
    return made;
  }

  /** Creates a workspace that binds the export. Resolves when it has the widgets. */
  async addConsumer(): Promise<void> {
    const at = this.#consumers.length;
    const name = `consumer-${at}`;
    const cluster = (await this.#client.make([name])).get(name) ?? "";
    this.#consumers.push(cluster);
    const spec = { reference: { export: { path: this.#provider, name: "widgets" } } };
    const binding = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "widgets" }, spec };
    await this.#create(`${APIS}/v1alpha2/apibindings`, binding, cluster);
    await this.#until(`${this.path("workspace", at)}?limit=1`, ({ items }) => items?.length === 1);
  }

  /** Returns the path of the widgets. */
  path(place: Place, consumer = 0): string {
    if (place === "source") return `/clusters/${this.#provider}${WIDGETS}`;
    const there = `/clusters/${this.#consumers[consumer]}${WIDGETS}`;
    return place === "view" ? `/services/replication/${this.#provider}/widgets${there}` : there;
  }

  /** Reads an object or a list. @throws Error on an answer that is no success */
  read<T>(path: string): Promise<T> {
    return this.#client.send<T>("GET", path);
  }

  /** Reads a list without keeping it. @returns its bytes */
  async drain(path: string): Promise<number> {
    let bytes = 0;
    for await (const piece of await this.#open(path)) bytes += (piece as Buffer).length;
    return bytes;
  }

  /** Watches the widgets of a workspace that binds the export. Resolves when all have arrived. */
  async watch(consumer: number): Promise<Disposable> {
    const { metadata } = await this.read<List>(`${this.path("view", consumer)}?limit=1`);
    const since = `watch=true&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`;
    const answer = await this.#open(`${this.path("view", consumer)}?${since}`);
    answer.resume();
    return { [Symbol.dispose]: () => void answer.destroy() };
  }

  /** Returns how many events the server has serialized for watches. */
  async rendered(): Promise<number> {
    const pieces = (await (await this.#open("/metrics")).toArray()) as Buffer[];
    const [, count] = /^\w+_watch_rendered_events_total (\d+)$/m.exec(Buffer.concat(pieces).toString()) ?? [];
    return Number(count);
  }

  /** Creates another widget. */
  async add(): Promise<void> {
    await this.#create(WIDGETS, { ...widget(`n${this.#added++}`), spec: this.#spec });
  }

  /** Creates widgets at a steady pace, milliseconds apart. @returns when each was requested */
  async addEvery({ period, count }: { readonly period: number; readonly count: number }): Promise<Float64Array> {
    const times: number[] = [];
    const began = performance.now();
    for (let at = 0; at < count; at++) {
      await delay(Math.max(0, began + at * period - performance.now()));
      times.push(sharedNow());
      await this.add();
    }
    return Float64Array.from(times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
    this.#agent.destroy();
    assert.deepEqual(await this.server.ask("errors"), []);
    await this.server[Symbol.asyncDispose]();
  }

  /** Publishes the widgets, as docs/how-to/cached-resources.md does. */
  async #export(): Promise<void> {
    const about = { apiVersion: "cache.kcp.io/v1alpha1", metadata: { name: "widgets" } };
    const { group, version, plural } = Widget;
    const cached = `${CACHE}/clustercachedresources`;
    await this.#create(cached, { ...about, kind: "ClusterCachedResource", spec: { group, version, resource: plural } });
    const slice = { clusterCachedResource: { name: "widgets" }, export: { name: "widgets" } };
    const kind = "ClusterCachedResourceEndpointSlice";
    await this.#create(`${CACHE}/clustercachedresourceendpointslices`, { ...about, kind, spec: slice });
    const path = `/clusters/${this.#provider}${cached}/widgets`;
    const { status } = await this.#until(path, (found) => found.status?.phase === "Ready");
    const schema = schemaManifest(Widget);
    await this.#create(`${APIS}/v1alpha1/apiresourceschemas`, schema);
    const reference = { apiGroup: "cache.kcp.io", kind, name: "widgets" };
    const storage = { virtual: { reference, identityHash: status?.identityHash } };
    await this.#create(`${APIS}/v1alpha2/apiexports`, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "widgets" },
      spec: { resources: [{ group, name: plural, schema: schema.metadata.name, storage }] },
    });
  }

  async #open(path: string): Promise<IncomingMessage> {
    const headers = { authorization: "Bearer admin", accept: "application/json" };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port: this.port, path, headers, agent: this.#agent }, resolve).once("error", reject);
    });
    assert.equal(answer.statusCode, 200, path);
    return answer;
  }

  #create(path: string, object: object, cluster = this.#provider): Promise<unknown> {
    return this.#client.send("POST", `/clusters/${cluster}${path}`, object);
  }

  /** Reads until something is so; what cannot be read yet is not. */
  async #until(path: string, is: (found: Found) => boolean): Promise<Found> {
    for (let last: unknown, tries = 0; ; tries++) {
      try {
        const found = await this.read<Found>(path);
        if (is(found)) return found;
        last = found;
      } catch (error) {
        last = error;
      }
      if (tries === 1_000) throw new Error(`${path}: ${JSON.stringify(last)}`, { cause: last });
      await delay(20);
    }
  }
}

function widget(name: string): object {
  return { apiVersion: "bench.example/v1", kind: "Widget", metadata: { name } };
}
