import { isApiError, type KindReference, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import type { Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client/queue";
import { type BackoffOptions, backoffDelay, retry } from "@virtual-workspaces/transport";
import { APIExport, APIExportV1alpha1 } from "../kinds/api-export.ts";
import type { Holds } from "../kinds/kind.ts";
import { clusterOf, ROOT_CLUSTER, TENANCY_GROUP } from "../names/names.ts";

/** Whose objects {@link ExportedObjects} follows, and where. */
export interface ExportedObjectsOptions {
  /** The shard. */
  readonly client: Client;
  /** By which the APIExport is read. */
  readonly everywhere: Client;
  /** The name of the APIExport, in `root`. */
  readonly name: string;
  readonly kind: Pick<KindReference, "group" | "version" | "kind" | "plural" | "scope">;
  /** Told of every failure; what failed is tried again. */
  readonly onError: (error: unknown) => void;
}

/** What a shard says of a kind that none of its workspaces has bound. */
const UNBOUND: readonly number[] = [403, 404];
/** How long it is at most until objects are seen after their kind was first bound, ms. */
const LATEST = 1_000;

/**
 * The objects of a kind in all workspaces of a shard: of that which an APIExport in `root` has, by its identity, and of
 * no other that is only called so.
 */
export class ExportedObjects<T extends KubeObject> implements Source<T>, AsyncDisposable {
  /** Resolves once the objects that there are have been read; also where nobody exports or has bound any. */
  readonly synced: Promise<void>;
  readonly #options: ExportedObjectsOptions;
  readonly #exports: Informer<Holds<typeof APIExport>>;
  readonly #handlers = new Map<SourceHandlers<T>, Disposable | undefined>();
  readonly #known = Promise.withResolvers<void>();
  #identity = "";
  #objects: Informer<T> | undefined;

  constructor(options: ExportedObjectsOptions) {
    this.#options = options;
    this.synced = this.#known.promise;
    const resource = options.everywhere.cluster(ROOT_CLUSTER).resource(APIExport);
    this.#exports = new Informer({ resource, fields: `metadata.name=${options.name}` });
    this.#exports.on({
      added: ({ status }) => this.#follow(status?.identityHash ?? ""),
      updated: ({ status }) => this.#follow(status?.identityHash ?? ""),
      deleted: () => this.#follow(""),
      lifecycle: (event) => {
        if (event.type === "synced" && this.#identity === "") this.#known.resolve();
        if (event.type === "error") options.onError(event.error);
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

  /** Begins to follow them. */
  start(): void {
    this.#exports.start();
  }

  /** Ends; nothing is told any more. */
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

  #informer(identity: string): Informer<T> {
    const { group, version, kind, scope, plural } = this.#options.kind;
    const reference: KindReference = { group, version, kind, scope, plural: `${plural}:${identity}` };
    const informer = new Informer({ resource: this.#options.client.resource(reference), backoff: { most: LATEST } });
    informer.on({
      lifecycle: (event) => {
        if (event.type === "synced") this.#known.resolve();
        if (event.type !== "error") return;
        if (isApiError(event.error) && UNBOUND.includes(event.error.code)) this.#known.resolve();
        else this.#options.onError(event.error);
      },
    });
    // As its kind says, of which the identity is.
    return informer as unknown as Informer<T>;
  }
}

/** Which object of the logical clusters it is: by its own word, which a server of workspaces has seen to. */
export function exportedKey(object: Pick<KubeObject, "metadata">): ObjectKey {
  return { cluster: clusterOf(object), namespace: "", name: object.metadata.name ?? "" };
}

/** Doubled from one attempt to the next, ms. */
const BACKOFF: BackoffOptions = { first: 250, most: 15_000, jitter: [1, 1] };

/**
 * By which identity Workspaces are asked for in all logical clusters at once: that of the APIExport `tenancy.kcp.io` in `root`. Tried
 * until it is known: a server that starts may not have it yet.
 *
 * @throws what `signal` aborts with
 */
export async function tenancyIdentity(
  everywhere: Client,
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<string> {
  const exports = everywhere.cluster(ROOT_CLUSTER).resource(APIExportV1alpha1);
  const attempt = async (): Promise<string> => {
    const { status } = await exports.get(TENANCY_GROUP, { signal });
    if (status?.identityHash) return status.identityHash;
    throw new Error(`the APIExport ${TENANCY_GROUP} in ${ROOT_CLUSTER} has no status.identityHash yet`);
  };
  const delayAfter = (error: unknown, failures: number): number => {
    onError(error);
    return backoffDelay(failures, BACKOFF);
  };
  try {
    return await retry(attempt, { delayAfter, signal });
  } catch (error) {
    // What a request ends with says less than why it had to end.
    signal.throwIfAborted();
    throw error;
  }
}
