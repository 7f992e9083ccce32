import { Client, Informer, type LifecycleEvent, withoutManagedFields } from "@virtual-workspaces/client";
import { APIBinding, APIExport, APIResourceSchema, type Holds } from "@virtual-workspaces/kcp";
import type { ApiExportViewOptions } from "../options.ts";
import { isBindingTo, SlimBindings } from "./binding.ts";
import { clusterOf } from "./cluster-of.ts";

/** Which export. */
export interface ExportKey {
  /** The name of the logical cluster that it is in. */
  readonly cluster: string;
  readonly name: string;
}

type ModelOptions = Pick<ApiExportViewOptions, "upstream" | "cache" | "onError">;

const BY_IDENTITY = "identity";
/** Of all shards. */
const CACHE = "/services/cache/shards/*";

/**
 * The exports and schemas of all shards and the bindings of this one, followed. Memory: the exports and schemas whole, and of
 * each binding half a KiB or so; nothing for requests.
 */
export class Model implements AsyncDisposable {
  readonly #exports: Informer<Holds<typeof APIExport>>;
  readonly #schemas: Informer<Holds<typeof APIResourceSchema>>;
  readonly #bindings: Informer<Holds<typeof APIBinding>>;
  #epoch = 0;

  constructor({ upstream, cache = upstream, onError = warn }: ModelOptions) {
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
    this.#bindings = new Informer({
      resource: here.resource(APIBinding),
      transform: new SlimBindings().of,
      onProblem,
    });
    const changed = (): void => {
      this.#epoch += 1;
    };
    const handlers = { added: changed, updated: changed, deleted: changed };
    this.#exports.on({ ...handlers, lifecycle: onceInARow(onError) });
    this.#schemas.on({ ...handlers, lifecycle: onceInARow(onError) });
    this.#bindings.on({ lifecycle: onceInARow(onError) });
  }

  get #all(): readonly Informer[] {
    return [this.#exports, this.#schemas, this.#bindings] as unknown as readonly Informer[];
  }

  /** Another number whenever an export or schema has changed. */
  get epoch(): number {
    return this.#epoch;
  }

  start(signal: AbortSignal): void {
    for (const informer of this.#all) informer.start(signal);
  }

  /** Resolves once everything has been read. Rejects when it ends before. */
  async synced(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.synced));
  }

  export({ cluster, name }: ExportKey): APIExport | undefined {
    return this.#exports.store.get({ cluster, name });
  }

  /** All exports of an identity, sorted by where they are: several have one key, seldom. */
  exportsOf(identityHash: string): readonly APIExport[] {
    const found = this.#exports.store.byIndex(BY_IDENTITY, identityHash);
    return found.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  }

  schema({ cluster, name }: ExportKey): APIResourceSchema | undefined {
    return this.#schemas.store.get({ cluster, name });
  }

  /** The binding of a logical cluster to an export, looked for among the few that it has. */
  binding(cluster: string, to: ExportKey): APIBinding | undefined {
    return this.#bindings.store.list({ cluster }).find((binding) => isBindingTo(binding, to));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.stop()));
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

function textOf({ metadata }: APIExport): string {
  return `${clusterOf(metadata)}/${metadata.name ?? ""}`;
}
