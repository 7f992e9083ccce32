// Why: what a workspace costs is known once it is Ready, which clients see by a watch.
import assert from "node:assert/strict";
import { Agent, type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

/** Where workspaces are made. */
const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";

interface Workspace {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly cluster?: string };
  readonly status?: { readonly phase?: string };
}

interface WatchLine {
  readonly type: string;
  readonly object: Workspace;
}

/** Of the type that people use. */
function newWorkspace(name: string): object {
  const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace" };
  return { ...about, metadata: { name }, spec: { type: { name: "universal", path: "root" } } };
}

/** A client of a workspace server, its administrator: connections are kept. */
export class WorkspaceClient implements Disposable {
  readonly #port: number;
  readonly #agent: Agent;

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /** @throws Error on an answer that is no success */
  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await this.#ask({ method, path, ...(body && { body }) });
    const text = Buffer.concat(await answer.toArray()).toString();
    assert.ok((answer.statusCode ?? 500) < 300, `${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** How many workspaces there are. */
  async count(): Promise<number> {
    interface List {
      readonly items: readonly object[];
      readonly metadata: { readonly remainingItemCount?: number };
    }
    const { items, metadata } = await this.send<List>("GET", `${WORKSPACES}?limit=1`);
    return items.length + (metadata.remainingItemCount ?? 0);
  }

  /** Makes ConfigMaps in `root`. */
  async makeConfigMaps(names: readonly string[]): Promise<void> {
    const path = "/clusters/root/api/v1/namespaces/default/configmaps";
    const map = { apiVersion: "v1", kind: "ConfigMap", data: { color: "blue" } };
    await this.each(names, (name) => this.send("POST", path, { ...map, metadata: { name } }));
  }

  /** Sees that a workspace is one, by its path. @throws Error when what belongs into it is not there */
  async check(name: string): Promise<void> {
    const within = `/clusters/root:${name}`;
    const { metadata } = await this.send<Workspace>(
      "GET",
      `${within}/api/v1/namespaces/default/configmaps/kube-root-ca.crt`,
    );
    assert.equal(metadata.name, "kube-root-ca.crt");
    const { status } = await this.send<Workspace>("GET", `${within}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`);
    assert.equal(status?.phase, "Ready");
  }

  /** Makes workspaces of the type that people use. @returns resolves when all are Ready: their logical clusters, by name */
  async make(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const ready = new Map<string, string>();
    const awaited = new Set(names);
    const seen = this.#until(({ object: { metadata, spec, status } }) => {
      if (status?.phase === "Ready" && awaited.delete(metadata.name)) ready.set(metadata.name, spec.cluster ?? "");
      return awaited.size === 0;
    });
    const watching = await seen;
    await this.each(names, (name) => this.send("POST", WORKSPACES, newWorkspace(name)));
    await watching.over;
    return ready;
  }

  /** Makes one, and asks for it until it is Ready: no list is read, as a watch of it begins with. @returns s */
  async makeOne(name: string): Promise<number> {
    const began = performance.now();
    await this.send("POST", WORKSPACES, newWorkspace(name));
    const isReady = async (): Promise<boolean> => {
      const { status } = await this.send<Workspace>("GET", `${WORKSPACES}/${name}`);
      return status?.phase === "Ready";
    };
    while (!(await isReady())) await delay(10);
    return (performance.now() - began) / 1000;
  }

  /** Deletes workspaces. Resolves when all are gone. */
  async delete(names: readonly string[]): Promise<void> {
    const awaited = new Set(names);
    const watching = await this.#until(({ type, object }) => {
      if (type === "DELETED") awaited.delete(object.metadata.name);
      return awaited.size === 0;
    });
    await this.each(names, (name) => this.send("DELETE", `${WORKSPACES}/${name}`));
    await watching.over;
  }

  /** Does something for each, on all connections. */
  async each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
    const left = [...all].reverse();
    const worker = async (): Promise<void> => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one);
    };
    await Promise.all(Array.from({ length: this.#agent.maxSockets - 1 }, worker));
  }

  /** Watches workspaces from now on. @returns `over` resolves when `isLast` says so */
  async #until(isLast: (line: WatchLine) => boolean): Promise<{ readonly over: Promise<void> }> {
    const { metadata } = await this.send<Pick<Workspace, "metadata">>("GET", `${WORKSPACES}?limit=1`);
    const path = `${WORKSPACES}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const answer = await this.#ask({ method: "GET", path });
    const over = (async () => {
      for await (const line of createInterface({ input: answer })) if (isLast(JSON.parse(line) as WatchLine)) break;
      answer.destroy();
    })();
    return { over };
  }

  #ask({ method, path, body }: { method: string; path: string; body?: object }): Promise<IncomingMessage> {
    const headers = { authorization: "Bearer admin", ...(body && { "content-type": "application/json" }) };
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port: this.#port, method, path, headers, agent: this.#agent },
        resolve,
      );
      asked.once("error", reject);
      asked.end(body && JSON.stringify(body));
    });
  }
}
