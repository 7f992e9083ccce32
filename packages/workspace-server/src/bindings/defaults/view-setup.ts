import { isDeepStrictEqual } from "node:util";
import { isApiError, type ObjectKey, WILDCARD } from "@virtual-workspaces/apimachinery";
import { Client, Informer, type InformerEvent, type LifecycleEvent } from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  API_BINDINGS_INITIALIZER,
  clusterOf,
  type Holds,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
} from "@virtual-workspaces/kcp";
import type { OwnServices } from "../../loopback/own-services.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import type { DefaultBinding } from "./default-bindings.ts";
import { createBinding, isRejection, type Setup, type Status } from "./setup.ts";

/** Name of the view of initializing workspaces. */
const INITIALIZING_VIEW = "initializingworkspaces";

/** Options of {@link ViewSetup}. */
export interface ViewSetupOptions {
  /** The server's own views, including that view. */
  readonly services: Pick<OwnServices, "upstream" | "leaving">;
  /** Fallback for creators that are not recorded, or not known in the workspace. */
  readonly own: Setup;
  /** Reports whether a workspace's creator is already its administrator. */
  readonly isOwned: (cluster: string) => boolean;
  /** Returns a LogicalCluster from the shard's cache, which is ahead of the view. */
  readonly current: (cluster: string) => LogicalClusterObject | undefined;
  /** Called for workspaces that can be continued. */
  readonly found: (key: ObjectKey) => void;
  readonly log: Log;
}

/**
 * Initializes workspaces through the view of initializing workspaces where another server has that, like kcp's `kcp-apibinder-initializer`. It watches
 * those that wait for `system:apibindings`, creates bindings as their creator, whom admission checks for `bind`, and writes
 * `/status`. While the view is unavailable, the workspaces wait. Memory: the waiting LogicalClusters and one connection.
 */
export class ViewSetup implements Setup, AsyncDisposable {
  readonly #options: ViewSetupOptions;
  readonly #client: Client;
  readonly #informer: Informer<Holds<typeof LogicalCluster>>;
  #isTold = false;

  constructor(options: ViewSetupOptions) {
    const { services, found } = options;
    this.#options = options;
    const path = `/services/${INITIALIZING_VIEW}/${API_BINDINGS_INITIALIZER}`;
    // The controller retries, and works on other workspaces in between.
    this.#client = new Client({ upstream: services.upstream, cluster: WILDCARD, path, retries: false });
    this.#informer = new Informer({ resource: this.#client.resource(LogicalCluster) });
    const tell = (_: unknown, event: Pick<InformerEvent<object>, "key">): void => found(event.key);
    this.#informer.on({
      added: tell,
      updated: (_, before, event) => tell(before, event),
      lifecycle: (event) => this.#happened(event),
    });
    this.#informer.start(services.leaving);
  }

  find(key: ObjectKey, there: LogicalClusterObject): LogicalClusterObject | undefined {
    if (!this.#informer.connected || this.#informer.store.get(key) === undefined) return undefined;
    return there.spec.createdBy === undefined || this.#options.isOwned(key.cluster) ? there : undefined;
  }

  async bind(key: ObjectKey, there: LogicalClusterObject, to: DefaultBinding): Promise<string | undefined> {
    const { own } = this.#options;
    if (there.spec.createdBy === undefined) return own.bind(key, there, to);
    return createBinding(this.#client.cluster(key.cluster), { key, to, forbidden: () => own.bind(key, there, to) });
  }

  /** The view lets an initializer end only itself. */
  alsoDone(): readonly string[] {
    return [];
  }

  async changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void> {
    const resource = this.#client.cluster(key.cluster).resource(LogicalCluster);
    for (let there = this.#options.current(key.cluster); there !== undefined; ) {
      const status = change(there.status ?? {});
      if (isDeepStrictEqual(status, there.status)) return;
      try {
        await resource.status.update({ ...there, status });
        return;
      } catch (error) {
        if (isApiError(error) && error.code === 404) return;
        if (!isApiError(error) || error.code !== 409) throw error;
      }
      there = await unlessGone(resource.get(key.name));
    }
  }

  /** Stops the informer; nothing else is held. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#informer.stop();
  }

  #happened(event: LifecycleEvent): void {
    if (event.type === "connected") {
      this.#isTold = false;
      for (const there of this.#informer.store.list()) this.#options.found(logicalClusterKey(clusterOf(there)));
    }
    // Callers report an unreachable or starting view themselves.
    if (event.type !== "error" || !isRejection(event.error) || this.#isTold) return;
    this.#isTold = true;
    const message = `cannot initialize workspaces: the view "${INITIALIZING_VIEW}" rejects requests`;
    this.#options.log({ level: "warn", message, error: event.error.message });
  }
}

async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isApiError(error) && error.code === 404) return undefined;
    throw error;
  }
}
