import { isDeepStrictEqual } from "node:util";
import { type Client, type Controller, controller, type ReconcileResult } from "@virtual-workspaces/client";
import {
  ClusterProxy,
  type ExportedObjects,
  exportedKey,
  IS_MOUNT_ANNOTATION,
  type ServedUrls,
} from "@virtual-workspaces/kcp";
import { type ProxyKey, textOf } from "./proxy-key.ts";
import { HEARTBEAT, statusOf } from "./status.ts";
import type { Tunnels } from "./tunnels.ts";

/** What the controller of ClusterProxies works with. */
export interface StatusControllerOptions {
  readonly informer: ExportedObjects<ClusterProxy>;
  readonly tunnels: Tunnels;
  /** By which statuses are written. */
  readonly client: Client;
  readonly urls: () => ServedUrls | undefined;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** How long an agent without a tunnel may be on its way before it is said to be gone, ms. */
const AWAITED = 10_000;
const WORKERS = 16;

/** Keeps the statuses of ClusterProxies in step with their tunnels. */
export class StatusController implements AsyncDisposable {
  readonly #options: StatusControllerOptions;
  readonly #controller: Controller<ClusterProxy>;
  readonly #begun = performance.now();
  /** When each that has no tunnel had one last, by the clock of the process, ms. */
  readonly #left = new Map<string, number>();

  constructor(options: StatusControllerOptions) {
    this.#options = options;
    const { informer, onError } = options;
    this.#controller = controller<ClusterProxy>({
      name: "cluster-proxies",
      sources: [{ informer }],
      reconcile: ({ cluster, name }, { object, signal }) => this.#reconcile({ cluster, name }, object, signal),
      workers: WORKERS,
      onError: ({ error }) => onError(error),
    });
  }

  /** It is to be looked at again: a tunnel has come, or gone. */
  add({ cluster, name }: ProxyKey): void {
    this.#controller.add({ cluster, namespace: "", name });
  }

  /** All are. */
  recheck(): void {
    for (const proxy of this.#options.informer.store.list()) this.#controller.add(exportedKey(proxy));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#controller.stop();
  }

  async #reconcile(
    key: ProxyKey,
    proxy: ClusterProxy | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { tunnels, urls, client, now } = this.#options;
    const text = textOf(key);
    if (proxy !== undefined && isExpired(proxy, now())) tunnels.end(key, () => true);
    const [tunnel] = tunnels.of(key);
    if (proxy === undefined || tunnel !== undefined) this.#left.delete(text);
    if (proxy === undefined || proxy.metadata.deletionTimestamp !== undefined) return undefined;
    const wait = tunnel === undefined ? this.#awaited(text, proxy) : 0;
    const status = statusOf(proxy, { tunnel, isAwaited: wait > 0, urls: urls(), now: now() });
    const place = client.cluster(key.cluster).resource(ClusterProxy);
    const { resourceVersion = "", annotations } = proxy.metadata;
    if (annotations?.[IS_MOUNT_ANNOTATION] === undefined) {
      await place.mergePatch(key.name, { metadata: { annotations: { [IS_MOUNT_ANNOTATION]: "true" } } }, { signal });
      return undefined; // it is told of again
    }
    if (!isDeepStrictEqual(status, proxy.status))
      await place.status.mergePatch(key.name, { metadata: { resourceVersion }, status }, { signal });
    if (tunnel !== undefined) return { requeueAfter: HEARTBEAT };
    return wait > 0 ? { requeueAfter: wait } : expiring(proxy, now());
  }

  /** How much longer its agent is waited for, ms: once it was there, or this hub has just begun. */
  #awaited(text: string, { status }: ClusterProxy): number {
    if (status?.agent?.epoch === undefined) return 0;
    const at = performance.now();
    const since = this.#left.get(text) ?? (at - this.#begun < AWAITED ? this.#begun : at);
    this.#left.set(text, since);
    return Math.max(0, since + AWAITED - at);
  }
}

function isExpired({ status }: ClusterProxy, now: Date): boolean {
  return Date.parse(status?.agent?.certificateExpires ?? "") < now.getTime();
}

/** What is written changes by itself when a certificate ends. */
function expiring({ status }: ClusterProxy, now: Date): ReconcileResult | undefined {
  const left = Date.parse(status?.agent?.certificateExpires ?? "") - now.getTime();
  return left > 0 ? { requeueAfter: Math.min(left + 1_000, HEARTBEAT) } : undefined;
}
