import { apiVersionOf, type KindReference } from "@virtual-workspaces/apimachinery";
import type { Client } from "../client.ts";
import { Informer } from "./informer.ts";
import type { InformerOptions } from "./informer-options.ts";

/** Options of a lease. */
export interface SharedInformerOptions {
  /** Logical cluster, or `*`. @default the client's */
  readonly cluster?: string;
  /** Namespace. @default all */
  readonly namespace?: string;
  readonly labels?: string;
  readonly fields?: string;
}

/** Lease of a shared informer, which runs while any lease exists. */
export interface InformerLease<T extends object> extends AsyncDisposable {
  readonly informer: Informer<T>;
}

/** Options of the informers of a factory. */
export type SharedInformersOptions = Omit<
  InformerOptions<object>,
  "resource" | "labels" | "fields" | "indexers" | "listKind"
>;

interface Shared {
  readonly informer: Informer<object>;
  leases: number;
}

/**
 * Shares informers of one client: one for each kind, cluster, namespace and selector (SharedInformerFactory). Security: all
 * of them read as that client's user, so create one factory per identity.
 */
export class SharedInformers implements AsyncDisposable {
  readonly #client: Client;
  readonly #options: SharedInformersOptions;
  readonly #shared = new Map<string, Shared>();

  constructor(client: Client, options: SharedInformersOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /** Number of running informers. */
  get size(): number {
    return this.#shared.size;
  }

  /** Leases an informer, and starts it for the first lease. It stops when the last lease is disposed. */
  lease<T extends object>(kind: KindReference<T>, options: SharedInformerOptions = {}): InformerLease<T> {
    const { cluster = this.#client.clusterName, namespace = "", labels = "", fields = "" } = options;
    const key = JSON.stringify([apiVersionOf(kind), kind.plural, cluster, namespace, labels, fields]);
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      const client = cluster === this.#client.clusterName ? this.#client : this.#client.cluster(cluster);
      const all = client.resource<object>(kind as unknown as KindReference<object>);
      const resource = namespace === "" ? all : all.in(namespace);
      shared = { informer: new Informer({ ...this.#options, resource, labels, fields }).start(), leases: 0 };
      this.#shared.set(key, shared);
    }
    const mine = shared;
    mine.leases += 1;
    let held = true;
    return {
      informer: mine.informer as unknown as Informer<T>,
      [Symbol.asyncDispose]: async () => {
        if (!held) return;
        held = false;
        mine.leases -= 1;
        if (mine.leases > 0) return;
        if (this.#shared.get(key) === mine) this.#shared.delete(key);
        await mine.informer.stop();
      },
    };
  }

  /** Stops all informers, even leased ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#shared.values()];
    this.#shared.clear();
    await Promise.all(all.map(({ informer }) => informer.stop()));
  }
}
