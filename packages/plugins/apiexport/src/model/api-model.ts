import {
  Client,
  Informer,
  type InformerEvent,
  type InformerHandlers,
  type LifecycleEvent,
  withoutManagedFields,
} from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { APIBinding, APIExport, APIResourceSchema, clusterOf, type Holds } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import { type ExportKey, isBindingTo, SlimBindings } from "./bindings.ts";

/** What an {@link ApiModel} is of: a shard, and what is exported anywhere. */
export interface ApiModelOptions extends Pick<Workspaces, "upstream"> {
  /**
   * The server that has kcp's cache (`/services/cache`), where exports and their schemas are read: those of all shards, since
   * a workspace of one may bind what is exported on another (`--cache-kubeconfig`). @default `upstream`
   */
  readonly cache?: Upstream;
  /** Told when a server cannot be followed or asked, and of schemas that cannot be served. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

const BY_IDENTITY = "identity";
/** Of all shards. */
const CACHE = "/services/cache/shards/*";

/**
 * The exports and schemas of all shards and the bindings of one, followed while a view of them is served. Views that are
 * given the same share it. Memory: the exports and schemas whole, and of each binding half a KiB or so; nothing for requests.
 */
export class ApiModel {
  readonly #exports: Informer<Holds<typeof APIExport>>;
  readonly #schemas: Informer<Holds<typeof APIResourceSchema>>;
  readonly #bindings: Informer<Holds<typeof APIBinding>>;
  readonly #slim = new SlimBindings();
  readonly #listeners = new ModelListeners();
  #holders = 0;
  #epoch = 0;

  constructor({ upstream, cache = upstream, onError = warn }: ApiModelOptions) {
    const everywhere = new Client({ upstream: cache, cluster: "*", path: CACHE });
    const here = new Client({ upstream, cluster: "*" });
    const onProblem = onError;
    this.#exports = new Informer({
      resource: everywhere.resource(APIExport),
      transform: withoutManagedFields,
      indexers: { [BY_IDENTITY]: ({ status }) => (status?.identityHash ? [status.identityHash] : []) },
      onProblem,
    });
    this.#schemas = new Informer({
      resource: everywhere.resource(APIResourceSchema),
      transform: withoutManagedFields,
      onProblem,
    });
    this.#bindings = new Informer({ resource: here.resource(APIBinding), transform: this.#slim.of, onProblem });
    const changed = (): void => {
      this.#epoch += 1;
    };
    const handlers = { added: changed, updated: changed, deleted: changed };
    this.#exports.on({ ...handlers, lifecycle: onceInARow(onError) });
    this.#schemas.on({ ...handlers, lifecycle: onceInARow(onError) });
    this.#bindings.on({ lifecycle: onceInARow(onError) });
    this.#exports.on(this.#listeners.handlers("export"));
    this.#schemas.on(this.#listeners.handlers("schema"));
    this.#bindings.on(this.#listeners.handlers("binding"));
  }

  get #all(): readonly Informer[] {
    return [this.#exports, this.#schemas, this.#bindings] as unknown as readonly Informer[];
  }

  /** @internal Another number whenever an export or schema has changed. */
  get epoch(): number {
    return this.#epoch;
  }

  /** @internal What hears of each change. */
  get listeners(): Pick<ModelListeners, "add"> {
    return this.#listeners;
  }

  /** @internal Follows what there is until all who hold it have disposed of that. */
  hold(): AsyncDisposable {
    this.#holders += 1;
    for (const informer of this.#all) informer.start();
    let held = true;
    return {
      [Symbol.asyncDispose]: async () => {
        this.#holders -= held ? 1 : 0;
        held = false;
        if (this.#holders === 0) await Promise.all(this.#all.map((informer) => informer.stop()));
      },
    };
  }

  /** @internal Resolves once everything has been read. Rejects when it ends before. */
  async synced(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.synced));
  }

  /** @internal */
  export({ cluster, name }: ExportKey): APIExport | undefined {
    return this.#exports.store.get({ cluster, name });
  }

  /** @internal All exports of an identity, sorted by where they are: several have one key, seldom. */
  exportsOf(identityHash: string): readonly APIExport[] {
    const found = this.#exports.store.byIndex(BY_IDENTITY, identityHash);
    return found.sort((one, other) => (exportPath(one) < exportPath(other) ? -1 : 1));
  }

  /** @internal */
  schema({ cluster, name }: ExportKey): APIResourceSchema | undefined {
    return this.#schemas.store.get({ cluster, name });
  }

  /** @internal The bindings of a logical cluster, in no order, as {@link SlimBindings} keeps them. */
  bindings(cluster: string): readonly APIBinding[] {
    return this.#bindings.store.list({ cluster, namespace: "" });
  }

  /** @internal The binding of a logical cluster to an export, looked for among the few that it has. */
  binding(cluster: string, to: ExportKey): APIBinding | undefined {
    return this.bindings(cluster).find((binding) => isBindingTo(binding, to));
  }

  /** @internal Whether the bindings of a logical cluster that the server has are those that are known here. */
  knows(cluster: string, asked: readonly APIBinding[]): boolean {
    const counts = new Map<APIBinding, number>();
    for (const one of this.bindings(cluster)) counts.set(one, (counts.get(one) ?? 0) + 1);
    for (const one of asked.map(this.#slim.of)) counts.set(one, (counts.get(one) ?? 0) - 1);
    return [...counts.values()].every((count) => count === 0);
  }
}

/** Tells of the first of failures that come in a row. */
function onceInARow(tell: (error: unknown) => void): (event: LifecycleEvent) => void {
  let failing = false;
  return (event) => {
    if (event.type === "connected") failing = false;
    if (event.type !== "error" || failing) return;
    failing = true;
    tell(event.error);
  };
}

function warn(error: unknown): void {
  process.emitWarning(`view of APIExports: ${String(error)}`);
}

function exportPath(exported: APIExport): string {
  return `${clusterOf(exported)}/${exported.metadata.name ?? ""}`;
}

/** What has changed: an export or schema of any shard, or a binding, by its logical cluster and name. */
export interface ModelChange {
  readonly of: "binding" | "export" | "schema";
  readonly cluster: string;
  readonly name: string;
}

/** Who is told of changes, at once. */
class ModelListeners {
  readonly #all = new Set<(change: ModelChange) => void>();

  /** @param listener must not throw @returns what takes it off again */
  add(listener: (change: ModelChange) => void): Disposable {
    this.#all.add(listener);
    return { [Symbol.dispose]: () => void this.#all.delete(listener) };
  }

  handlers<T>(of: ModelChange["of"]): InformerHandlers<T> {
    const tell = ({ key: { cluster, name } }: Pick<InformerEvent<T>, "key">): void => {
      for (const listener of this.#all) listener({ of, cluster, name });
    };
    return {
      added: (_, event) => tell(event),
      updated: (_, __, event) => tell(event),
      deleted: (_, event) => tell(event),
    };
  }
}
