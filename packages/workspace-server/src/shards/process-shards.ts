import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, isApiError, nameProblems, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Located } from "@virtual-workspaces/framework/resource";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { ROOT_CLUSTER, ROOT_SHARD, Shard as ShardKind, type Shard as ShardObject } from "@virtual-workspaces/kcp";
import { SHARD_NAME_LABEL } from "@virtual-workspaces/kcp/names";
import { untilAborted } from "@virtual-workspaces/transport";
import type { ServedShards } from "../loopback/loopback.ts";
import { type Clusters, loaded, whenLoaded } from "../serving/served-shard.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { ensure, read, remove } from "../state/modify.ts";
import { IN_PROCESS_ANNOTATION, isClusterName, isInProcess } from "../state/shard-registry.ts";
import { notRunning } from "../state/unavailable.ts";
import { inProcessShardsController } from "./in-process-shards-controller.ts";
import { ReplicaMismatch } from "./replicas.ts";
import { RunningShard, type RunningShardOptions } from "./running-shard.ts";
import type { Shard } from "./shard.ts";

/** Options of the shards of a process. */
export type ProcessShardsOptions = Omit<RunningShardOptions, "name" | "signal" | "host" | "joined">;

/** Longest wait of `root` for the other shards' content at startup, in milliseconds. */
const PATIENCE = 10_000;

/** Maximum length of a shard's name, which is also a label value. */
const MOST = 63;

/** Shards of a process: `root`, and those with a Shard object. Clients of the server see them as one. */
export class ProcessShards implements Clusters, AsyncDisposable {
  readonly #options: ProcessShardsOptions;
  readonly #running = new Map<string, RunningShard>();
  /** Shards that are starting or running. */
  readonly #begun = new Map<string, Promise<RunningShard>>();
  readonly #changes = new EventEmitter<{ changed: [] }>().setMaxListeners(0);
  readonly #stop = new AbortController();
  readonly #assembled = Promise.withResolvers<void>();
  #host = "";
  #controller: ShardController | undefined;

  constructor(options: ProcessShardsOptions) {
    this.#options = options;
  }

  get started(): Promise<void> {
    return this.#root.started;
  }

  /** @throws ApiError 503 on an unknown name while a shard that may have it does not run */
  locate(said: string): Awaitable<string | Located> {
    return whenLoaded(this.#root.context.registry.reach(said), () => this.#locate(said));
  }

  load(cluster: string): Promise<void> | undefined {
    return loaded(this.#root, cluster);
  }

  #locate(said: string): string | Located {
    const { registry } = this.#root.context;
    if (isClusterName(said)) {
      if (registry.index.shardOf(said) === undefined && !said.startsWith("system:")) this.#refuseUnknown();
      return said;
    }
    try {
      return registry.locate(said);
    } catch (error) {
      if (isApiError(error) && error.code === 404) this.#refuseUnknown();
      throw error;
    }
  }

  shardOf(cluster: string): Shard {
    const { index } = this.#root.context.registry;
    const name = cluster.startsWith("system:") ? ROOT_SHARD : index.shardOf(cluster);
    if (name === undefined || name === ROOT_SHARD) return this.#root;
    const running = this.#running.get(name);
    if (running === undefined) throw notRunning();
    return running.shard;
  }

  isElsewhere(): boolean {
    return false;
  }

  /** Returns the shards, for views over all of them. @param root the workspaces of `root` */
  served(root: () => VirtualWorkspace): ServedShards {
    return {
      running: new Map([
        [ROOT_SHARD, root()],
        ...[...this.#running].map(([name, one]) => [name, one.workspaces] as const),
      ]),
      missing: this.#missing().flatMap(({ metadata, spec }) => (spec === undefined ? [] : [metadata.name ?? ""])),
      listen: (listener) => {
        this.#changes.on("changed", listener);
        const objects = this.#root.context.state.shards.on({ deleted: listener });
        return {
          [Symbol.dispose]: () => {
            this.#changes.off("changed", listener);
            objects[Symbol.dispose]();
          },
        };
      },
    };
  }

  /** Fails while one of the shards does not work. */
  async check(context: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#missing().length > 0) throw notRunning();
    await Promise.all([...this.#running.values()].map((shard) => shard.check(context)));
  }

  /**
   * Begins to start the shards. Call it when the content of `root` is known, before its controllers work. Resolves when the
   * content of the others is known as well, with a limit on the wait.
   *
   * @param host default host of the shards' listeners
   * @throws ApiError 409 when another server runs one of the shards, ReplicaMismatch when another process runs one with other
   * settings: this process would write wrong values
   */
  async begin(host: string): Promise<void> {
    this.#host = host;
    const { names = [] } = this.#options.shards;
    for (const name of names) await this.#declare(name);
    const all = new Set([...names, ...this.#wanted().map(({ metadata }) => metadata.name ?? "")]);
    let unlike: ReplicaMismatch | undefined;
    const known = Promise.all(
      [...all].map(async (name) => {
        const failure = await this.#isKnown(name);
        if (failure instanceof ReplicaMismatch) unlike ??= failure;
      }),
    );
    const enough = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, enough.signal]);
    await Promise.race([known, delay(PATIENCE, undefined, { signal }).catch(() => undefined)]);
    enough.abort();
    if (unlike !== undefined) throw unlike;
    this.#assembled.resolve();
  }

  /** Resolves when each start has been tried once. Failures are reported and retried. */
  async start(): Promise<void> {
    await Promise.all([...this.#begun.values()].map((begun) => begun.catch(() => undefined)));
    if (this.#stop.signal.aborted) return;
    this.#controller = inProcessShardsController(this.#root.context, this);
    await this.#controller.started;
  }

  /** Declares a shard and starts it. @throws ApiError 409, and the error of a failed start */
  async add(name: string): Promise<void> {
    await this.#declare(name);
    await this.run(name);
  }

  /** Deletes a shard. @returns when it is gone @throws ApiError 409 for another server's shard, and the reason of the signal */
  async remove(name: string, signal?: AbortSignal): Promise<void> {
    const found = await read(this.#root.context.objects.of(ShardKind), shardKey(name));
    if (name === ROOT_SHARD || (found !== undefined && !isInProcess(found))) throw notOurs(name);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const { shards } = this.#root.context.state;
    const at = shardKey(name);
    await remove(this.#root.context.objects.of(ShardKind), at);
    using _ = shards.on({ deleted: (_, { key }) => key.cluster === at.cluster && key.name === name && resolve() });
    signal?.throwIfAborted();
    if ((await read(this.#root.context.objects.of(ShardKind), at)) === undefined) resolve();
    await untilAborted(gone, signal);
  }

  /** Starts a shard unless it runs. @returns `undefined` when the process ends @throws the error of a failed start */
  async run(name: string): Promise<ShardContext | undefined> {
    if (this.#stop.signal.aborted) return undefined;
    try {
      return (await this.#run(name, () => undefined)).shard.context;
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined;
      throw error;
    }
  }

  /** Stops a shard that runs or is starting. */
  async end(name: string): Promise<void> {
    const begun = this.#begun.get(name);
    if (begun === undefined) return;
    if (this.#running.delete(name)) this.#changes.emit("changed");
    const running = await begun.catch(() => undefined);
    await running?.[Symbol.asyncDispose]();
    this.#begun.delete(name);
    const { log } = this.#root.context;
    if (running !== undefined) log({ level: "info", message: "shard stopped", shard: name });
  }

  /** Closes the listeners and prevents further starts; the shards keep running. */
  async closeListeners(): Promise<void> {
    this.#stop.abort();
    this.#assembled.resolve();
    await Promise.all([...this.#running.values()].map((shard) => shard.closeListener()));
  }

  /** Stops all controllers. The caller stops those of `root` at the same time. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#assembled.resolve();
    await this.#controller?.[Symbol.asyncDispose]();
    await Promise.all([...this.#running.values()].map(({ shard }) => shard.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await Promise.all([...this.#begun.keys()].map((name) => this.end(name)));
  }

  /** Resolves when the shard has joined the registry, or failed to. @returns the error */
  #isKnown(name: string): Promise<unknown> {
    return new Promise(
      (resolve) => void this.#run(name, () => resolve(undefined)).then(() => resolve(undefined), resolve),
    );
  }

  async #run(name: string, joined: () => void): Promise<RunningShard> {
    const known = this.#begun.get(name);
    if (known !== undefined) return known;
    const begun = RunningShard.start({
      ...this.#options,
      name,
      host: this.#host,
      signal: this.#stop.signal,
      joined: () => {
        joined();
        return this.#assembled.promise;
      },
    });
    this.#begun.set(name, begun);
    try {
      const running = await begun;
      if (this.#begun.get(name) !== begun) return running;
      this.#running.set(name, running);
      this.#changes.emit("changed");
      const { urls, log } = running.shard.context;
      log({ level: "info", message: "shard is serving", shard: name, url: urls.baseURL });
      return running;
    } catch (error) {
      if (this.#begun.get(name) === begun) this.#begun.delete(name);
      throw error;
    }
  }

  get #root(): Shard {
    return this.#options.root;
  }

  #wanted(): ShardObject[] {
    return this.#root.context.state.shards.store
      .list(ROOT_CLUSTER)
      .filter((shard) => isInProcess(shard) && shard.metadata.name !== ROOT_SHARD);
  }

  #missing(): ShardObject[] {
    return this.#wanted().filter(({ metadata }) => !this.#running.has(metadata.name ?? ""));
  }

  /** A shard that has never run has no content. */
  #refuseUnknown(): void {
    if (this.#missing().some(({ spec }) => spec !== undefined)) throw notRunning();
  }

  async #declare(name: string): Promise<void> {
    if (name === ROOT_SHARD || name.length > MOST || nameProblems(name).length > 0)
      throw new Error(`invalid shard name ${JSON.stringify(name)}: use a name such as shard-1`);
    const shards = this.#root.context.objects.of(ShardKind);
    const { object } = await ensure(shards, shardKey(name), () => ({
      metadata: { annotations: { [IN_PROCESS_ANNOTATION]: "true" }, labels: { [SHARD_NAME_LABEL]: name } },
    }));
    if (!isInProcess(object)) throw notOurs(name);
  }
}

function shardKey(name: string): ObjectKey {
  return { cluster: ROOT_CLUSTER, namespace: "", name };
}

function notOurs(name: string): ApiError {
  const resource = { group: ShardKind.group, resource: ShardKind.plural };
  return ApiError.conflict(resource, name, "the Shard of that name in root is another server's: choose another name");
}
