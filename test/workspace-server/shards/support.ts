// A server with several shards and stores that outlive it, and clients of each shard.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import type { ShardsOptions } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Answer, type Calls, callsTo } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces, type WorkspacesOptions } from "../support/workspaces.ts";

export const SHARDS = "/clusters/root/apis/core.kcp.io/v1alpha1/shards";
export const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const root = { user: "root" };
export const IN_PROCESS = { "virtual-workspaces.io/in-process": "true" };

// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
export type Body = any;

/** In-memory stores by shard name. They outlive servers. */
export class Stores implements AsyncDisposable {
  readonly #stores = new Map<string, Store>();

  of(name: string): Store {
    const store = this.#stores.get(name) ?? memoryStore();
    this.#stores.set(name, store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores.values()) await store[Symbol.asyncDispose]();
  }
}

export interface ShardedOptions extends Omit<WorkspacesOptions, "shards"> {
  readonly shards?: Partial<ShardsOptions>;
}

/** Starts a server with `root` and `shard-1` over these stores. */
export function startSharded(stores: Stores, { shards, ...options }: ShardedOptions = {}): Promise<Workspaces> {
  return startWorkspaces(stores.of("root"), {
    ...options,
    shards: { names: ["shard-1"], storeOf: (name) => stores.of(name), ...shards },
  });
}

/** Returns a client of a shard at its own address. */
export async function shardAt(server: Calls, name: string): Promise<Calls & { readonly url: string }> {
  const { body } = await server.get(`${SHARDS}/${name}`, root);
  const url: string = body.spec.baseURL;
  return { url, ...callsTo(url) };
}

export interface MadeOn {
  readonly shard: string;
  /** Parent workspace. @default root */
  readonly at?: string;
  /** User. @default the shard's administrator */
  readonly user?: string;
  /** Type in `root`. @default universal */
  readonly type?: string;
}

/** Creates a workspace on a shard and waits until it is ready. @returns its logical cluster */
export async function makeOn(
  server: Calls,
  name: string,
  { shard, at = "root", user = "root", type = "universal" }: MadeOn,
) {
  const spec = { type: { name: type, path: "root" }, location: { selector: { matchLabels: { name: shard } } } };
  const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
  const made = await server.send(`POST /clusters/${at}${WORKSPACES}`, workspace, { user });
  expect(made.status, made.text).to.equal(201);
  const ready = await untilAt(
    server,
    `/clusters/${at}${WORKSPACES}/${name}`,
    ({ body }) => body.status?.phase === "Ready",
  );
  expect(ready.body.metadata.annotations["core.kcp.io/shard"]).to.equal(shard);
  return ready.body.spec.cluster as string;
}

/** Repeats a request until the response is as expected. @param path may name a user other than the administrator */
export function untilAt(
  server: Calls,
  path: string | { readonly path: string; readonly user: string },
  is: (answer: Answer) => boolean,
): Promise<Answer> {
  const asked = typeof path === "string" ? { path, user: "root" } : path;
  return untilAnswer(() => server.get(asked.path, { user: asked.user }), is);
}

export function configMap(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { x: "y" } };
}

export function shardObject(name: string): object {
  return { apiVersion: "core.kcp.io/v1alpha1", kind: "Shard", metadata: { name, annotations: IN_PROCESS } };
}

/** Returns the names of the objects in a list. */
export function namesIn({ status, text, body }: Answer): string[] {
  expect(status, text).to.equal(200);
  return body.items.map(({ metadata }: Body) => metadata.name);
}

/** Returns the condition of a type. */
export function conditionOf({ body }: Answer, type: string): Body {
  return body.status?.conditions?.find((condition: Body) => condition.type === type);
}

/** Waits until a Shard's condition says that it runs, or does not. @returns the Shard */
export function untilShard(server: Calls, name: string, is: "ready" | "not ready"): Promise<Answer> {
  const wanted = is === "ready" ? "True" : "False";
  return untilAt(server, `${SHARDS}/${name}`, (answer) => conditionOf(answer, "Ready")?.status === wanted);
}
