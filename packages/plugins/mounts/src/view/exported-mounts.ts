import { isApiError, type KindReference, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, Informer, type Source, type SourceHandlers, type SourceStore } from "@virtual-workspaces/client";
import { APIExport, type Holds, Mount, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { mountKey } from "../targets/mount-key.ts";

/** Where mounts are followed. */
export interface ExportedMountsOptions {
  /** The shard. */
  readonly client: Client;
  /** By which the APIExport is read. */
  readonly everywhere: Client;
  readonly onError: (error: unknown) => void;
}

type Mounts = Informer<Pick<Mount, "spec" | "status">>;

/** What a shard says of a kind that none of its workspaces has bound. */
const UNBOUND: readonly number[] = [403, 404];
/** How long it is at most until mounts are seen after their kind was first bound, ms. */
const LATEST = 1_000;

/**
 * The mounts in all workspaces of a shard: of the kind that the APIExport `proxy.kcp.io` in `root` has, by its identity, and of
 * no other that is only called so.
 */
export class ExportedMounts implements Source<Mount>, AsyncDisposable {
  /** Resolves once the mounts that there are have been read; also where nobody exports or has bound any. */
  readonly synced: Promise<void>;
  readonly #options: ExportedMountsOptions;
  readonly #exports: Informer<Holds<typeof APIExport>>;
  readonly #handlers = new Map<SourceHandlers<Mount>, Disposable | undefined>();
  readonly #known = Promise.withResolvers<void>();
  #identity = "";
  #mounts: Mounts | undefined;

  constructor(options: ExportedMountsOptions) {
    this.#options = options;
    this.synced = this.#known.promise;
    const resource = options.everywhere.cluster(ROOT_CLUSTER).resource(APIExport);
    this.#exports = new Informer({ resource, fields: `metadata.name=${Mount.group}` });
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

  get store(): SourceStore<Mount> {
    return {
      get: (key: ObjectKey) => this.#mounts?.store.get(key),
      list: () => this.#mounts?.store.list() ?? [],
    };
  }

  on(handlers: SourceHandlers<Mount>): Disposable {
    this.#handlers.set(handlers, this.#mounts?.on(handlers));
    return {
      [Symbol.dispose]: () => {
        this.#handlers.get(handlers)?.[Symbol.dispose]();
        this.#handlers.delete(handlers);
      },
    };
  }

  start(): void {
    this.#exports.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#known.resolve();
    await Promise.all([this.#exports.stop(), this.#mounts?.stop()]);
  }

  #follow(identity: string): void {
    if (identity === this.#identity) return;
    this.#identity = identity;
    const before = this.#mounts;
    this.#mounts = identity === "" ? undefined : this.#informer(identity);
    for (const [handlers, subscription] of [...this.#handlers]) {
      subscription?.[Symbol.dispose]();
      for (const mount of before?.store.list() ?? []) handlers.deleted?.(mount, { key: mountKey(mount) });
      this.#handlers.set(handlers, this.#mounts?.on(handlers));
    }
    void before?.stop();
    this.#mounts?.start();
  }

  #informer(identity: string): Mounts {
    const { group, version, kind, scope, plural } = Mount;
    const reference: KindReference<Pick<Mount, "spec" | "status">> = {
      ...{ group, version, kind, scope },
      plural: `${plural}:${identity}`,
    };
    const informer = new Informer({ resource: this.#options.client.resource(reference), backoff: { most: LATEST } });
    informer.on({
      lifecycle: (event) => {
        if (event.type === "synced") this.#known.resolve();
        if (event.type !== "error") return;
        if (isApiError(event.error) && UNBOUND.includes(event.error.code)) this.#known.resolve();
        else this.#options.onError(event.error);
      },
    });
    return informer;
  }
}
