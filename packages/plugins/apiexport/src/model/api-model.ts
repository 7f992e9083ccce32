import type { KubeObject } from "@virtual-workspaces/apimachinery";
import {
  Client,
  Informer,
  type InformerEvent,
  type InformerHandlers,
  withoutManagedFields,
} from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { APIBinding, APIExport, APIResourceSchema, clusterOf, type Holds } from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { Upstream } from "@virtual-workspaces/transport";
import { type ExportKey, isBindingTo, SlimBindings } from "./bindings.ts";

/** Options of an {@link ApiModel}: a shard, and the exports of all shards. */
export interface ApiModelOptions extends Pick<Workspaces, "upstream"> {
  /**
   * Server with kcp's cache (`/services/cache`) for exports and schemas of all shards, since a workspace may bind an export of
   * another shard (`--cache-kubeconfig`).
   * @default `upstream`
   */
  readonly cache?: Upstream;
  /** Receives errors of informers and requests, and schemas that cannot be served. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

const BY_IDENTITY = "identity";
const BY_PLACE = "place";
/** Path for all shards. */
export const CACHE = "/services/cache/shards/*";

/**
 * Cache of the exports and schemas of all shards and the bindings of one, active while a view is served. Several views can share
 * it. Memory: whole exports and schemas, and about half a KiB per binding; nothing per request.
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
    const reports = { onError, onProblem: onError };
    this.#exports = new Informer({
      resource: everywhere.resource(APIExport),
      transform: withoutManagedFields,
      indexers: {
        [BY_IDENTITY]: ({ status }) => (status?.identityHash ? [status.identityHash] : []),
        [BY_PLACE]: placesOf,
      },
      ...reports,
    });
    this.#schemas = new Informer({
      resource: everywhere.resource(APIResourceSchema),
      transform: withoutManagedFields,
      ...reports,
    });
    this.#bindings = new Informer({ resource: here.resource(APIBinding), transform: this.#slim.of, ...reports });
    const changed = (): void => {
      this.#epoch += 1;
    };
    const handlers = { added: changed, updated: changed, deleted: changed };
    this.#exports.on(handlers);
    this.#schemas.on(handlers);
    this.#exports.on(this.#listeners.handlers("export"));
    this.#schemas.on(this.#listeners.handlers("schema"));
    this.#bindings.on(this.#listeners.handlers("binding"));
  }

  get #all(): readonly Informer[] {
    return [this.#exports, this.#schemas, this.#bindings] as unknown as readonly Informer[];
  }

  /** @internal Changes with each export and schema. */
  get epoch(): number {
    return this.#epoch;
  }

  /** @internal Listeners for each change. */
  get listeners(): Pick<ModelListeners, "add"> {
    return this.#listeners;
  }

  /** @internal Runs the informers until all holders have disposed of the result. */
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

  /** @internal Resolves when all objects are read. Rejects when the informers stop before. */
  async synced(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.synced));
  }

  /** @internal */
  export({ cluster, name }: ExportKey): APIExport | undefined {
    return this.#exports.store.get({ cluster, name });
  }

  /** @internal Returns the export of a reference: a workspace path or the name of a logical cluster, and its name. */
  exportAt(place: string, name: string): APIExport | undefined {
    return this.#exports.store.byIndex(BY_PLACE, `${place}:${name}`)[0];
  }

  /** @internal Returns the exports with an identity, sorted by logical cluster and name. Usually there is one. */
  exportsOf(identityHash: string): readonly APIExport[] {
    const found = this.#exports.store.byIndex(BY_IDENTITY, identityHash);
    return found.sort((one, other) => (exportPath(one) < exportPath(other) ? -1 : 1));
  }

  /** @internal */
  schema({ cluster, name }: ExportKey): APIResourceSchema | undefined {
    return this.#schemas.store.get({ cluster, name });
  }

  /** @internal Returns the bindings of a logical cluster, unordered, in the form of {@link SlimBindings}. */
  bindings(cluster: string): readonly APIBinding[] {
    return this.#bindings.store.list({ cluster, namespace: "" });
  }

  /** @internal Returns the binding of a logical cluster to an export. A logical cluster has few bindings. */
  binding(cluster: string, to: ExportKey): APIBinding | undefined {
    return this.bindings(cluster).find((binding) => isBindingTo(binding, to));
  }

  /** @internal Returns whether the cached bindings of a logical cluster equal those that the server returned. */
  knows(cluster: string, asked: readonly APIBinding[]): boolean {
    const counts = new Map<APIBinding, number>();
    for (const one of this.bindings(cluster)) counts.set(one, (counts.get(one) ?? 0) + 1);
    for (const one of asked.map(this.#slim.of)) counts.set(one, (counts.get(one) ?? 0) - 1);
    return [...counts.values()].every((count) => count === 0);
  }
}

/** Returns the keys by which references name an object: its workspace's path or logical cluster, and its name. */
export function placesOf(object: KubeObject): string[] {
  const { name = "", annotations } = object.metadata;
  const cluster = clusterOf(object);
  return [...new Set([annotations?.[PATH_ANNOTATION] ?? cluster, cluster])].map((place) => `${place}:${name}`);
}

function warn(error: unknown): void {
  process.emitWarning(`view of APIExports: ${String(error)}`);
}

function exportPath(exported: APIExport): string {
  return `${clusterOf(exported)}/${exported.metadata.name ?? ""}`;
}

/** Change of an export or schema on any shard, or of a binding, by logical cluster and name. */
export interface ModelChange {
  readonly of: "binding" | "export" | "schema";
  readonly cluster: string;
  readonly name: string;
}

/** Synchronous listeners for changes. */
class ModelListeners {
  readonly #all = new Set<(change: ModelChange) => void>();

  /** @param listener must not throw @returns removes the listener */
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
