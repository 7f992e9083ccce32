import { isApiError, type KindReference, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import type { Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client/queue";
import { type BackoffOptions, backoffDelay, retry } from "@virtual-workspaces/transport";
import { APIExport, APIExportV1alpha1 } from "../kinds/api-export.ts";
import type { Holds } from "../kinds/kind.ts";
import { clusterOf, ROOT_CLUSTER, TENANCY_GROUP } from "../names/names.ts";

/** Options of {@link ExportedObjects}. */
export interface ExportedObjectsOptions {
  /** Client for the shard. */
  readonly client: Client;
  /** Client that reads the APIExport. */
  readonly everywhere: Client;
  /** Name of the APIExport in `root`. */
  readonly name: string;
  readonly kind: Pick<KindReference, "group" | "version" | "kind" | "plural" | "scope">;
  /** Receives failures, once for each reason. The informer retries. */
  readonly onError: (error: unknown) => void;
}

/** Status codes of a shard for a kind that none of its workspaces has bound. */
const UNBOUND: readonly number[] = [403, 404];
/** Longest delay until objects are seen after the first binding of their kind, in ms. */
const LATEST = 1_000;

/**
 * Informer for the objects of a kind in all workspaces of a shard. It selects the kind by the identity of an APIExport in `root`,
 * so that another kind with the same name never counts.
 */
export class ExportedObjects<T extends KubeObject> implements Source<T>, AsyncDisposable {
  /** Resolves when the existing objects are read, also when the export does not exist or no workspace has bound it. */
  readonly synced: Promise<void>;
  readonly #options: ExportedObjectsOptions;
  readonly #exports: Informer<Holds<typeof APIExport>>;
  readonly #handlers = new Map<SourceHandlers<T>, Disposable | undefined>();
  readonly #known = Promise.withResolvers<void>();
  #identity = "";
  #objects: RunningSource<T> | undefined;

  constructor(options: ExportedObjectsOptions) {
    this.#options = options;
    this.synced = this.#known.promise;
    const resource = options.everywhere.cluster(ROOT_CLUSTER).resource(APIExport);
    this.#exports = new Informer({ resource, fields: `metadata.name=${options.name}`, onError: options.onError });
    this.#exports.on({
      added: ({ status }) => this.#follow(status?.identityHash ?? ""),
      updated: ({ status }) => this.#follow(status?.identityHash ?? ""),
      deleted: () => this.#follow(""),
      lifecycle: (event) => {
        if (event.type === "synced" && this.#identity === "") this.#known.resolve();
      },
    });
  }

  get store(): SourceStore<T> {
    return {
      get: (key: ObjectKey) => this.#objects?.store.get(key),
      list: () => this.#objects?.store.list() ?? [],
    };
  }

  on(handlers: SourceHandlers<T>): Disposable {
    this.#handlers.set(handlers, this.#objects?.on(handlers));
    return {
      [Symbol.dispose]: () => {
        this.#handlers.get(handlers)?.[Symbol.dispose]();
        this.#handlers.delete(handlers);
      },
    };
  }

  /** Starts the informers. */
  start(): void {
    this.#exports.start();
  }

  /** Stops the informers. No handler is called afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#known.resolve();
    await Promise.all([this.#exports.stop(), this.#objects?.stop()]);
  }

  #follow(identity: string): void {
    if (identity === this.#identity) return;
    this.#identity = identity;
    const before = this.#objects;
    this.#objects = identity === "" ? undefined : this.#informer(identity);
    for (const [handlers, subscription] of [...this.#handlers]) {
      subscription?.[Symbol.dispose]();
      for (const object of before?.store.list() ?? []) handlers.deleted?.(object, { key: exportedKey(object) });
      this.#handlers.set(handlers, this.#objects?.on(handlers));
    }
    void before?.stop();
    this.#objects?.start();
  }

  #informer(identity: string): RunningSource<T> {
    const { group, version, kind, scope, plural } = this.#options.kind;
    const reference: KindReference = { group, version, kind, scope, plural: `${plural}:${identity}` };
    const resource = this.#options.client.resource(reference);
    const onError = (error: Error): void => {
      if (!isUnbound(error.cause)) this.#options.onError(error);
    };
    const informer = new Informer({ resource, backoff: { most: LATEST }, onError });
    informer.on({
      lifecycle: (event) => {
        if (event.type === "synced" || (event.type === "error" && isUnbound(event.error))) this.#known.resolve();
      },
    });
    // The identity belongs to the APIExport of this kind, so objects have the type T.
    return informer as unknown as RunningSource<T>;
  }
}

/** Whether no workspace of the shard has bound the kind. */
function isUnbound(error: unknown): boolean {
  return isApiError(error) && UNBOUND.includes(error.code);
}

/** An informer by the type of its objects. */
interface RunningSource<T extends KubeObject> extends Source<T>, Pick<Informer<object>, "start" | "stop"> {}

/** Returns the key of an object, with the cluster name from its annotation, which a workspace server enforces. */
export function exportedKey(object: Pick<KubeObject, "metadata">): ObjectKey {
  return { cluster: clusterOf(object), namespace: "", name: object.metadata.name ?? "" };
}

/** Delays in ms, doubled after each attempt. */
const BACKOFF: BackoffOptions = { first: 250, most: 15_000, jitter: [1, 1] };

/**
 * Returns the identity of the APIExport `tenancy.kcp.io` in `root`, which requests for the Workspaces of all logical clusters need.
 * Retries until it is set, since a starting server may not have it yet.
 *
 * @throws the reason of `signal`
 */
export async function tenancyIdentity(
  everywhere: Client,
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<string> {
  const exports = everywhere.cluster(ROOT_CLUSTER).resource(APIExportV1alpha1);
  const attempt = async (): Promise<string> => {
    const { status } = await exports.get(TENANCY_GROUP, { signal });
    if (status?.identityHash) return status.identityHash;
    throw new Error(`APIExport "${TENANCY_GROUP}" in "${ROOT_CLUSTER}" has no status.identityHash yet`);
  };
  const delayAfter = (error: unknown, failures: number): number => {
    onError(error);
    return backoffDelay(failures, BACKOFF);
  };
  try {
    return await retry(attempt, { delayAfter, signal });
  } catch (error) {
    // The abort reason says more than the error of the aborted request.
    signal.throwIfAborted();
    throw error;
  }
}
