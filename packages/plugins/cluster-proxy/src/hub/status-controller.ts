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
  /** How long an agent that has left may be on its way before it is said to be gone, ms. @default 10000 */
  readonly grace?: number | undefined;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

const GRACE = 10_000;
/** So long after it was last written that an agent was there no other hub has it, ms. */
const SILENT = 1.5 * HEARTBEAT;
const WORKERS = 16;

/** Keeps the statuses of ClusterProxies in step with their tunnels. */
export class StatusController implements AsyncDisposable {
  readonly #options: StatusControllerOptions;
  readonly #controller: Controller<ClusterProxy>;
  readonly #begun = performance.now();
  /** Those that have a tunnel here. */
  readonly #held = new Set<string>();
  /** When those that had one lost it, by the clock of the process, ms: until that is written. */
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
    this.#note(text, { isHere: tunnel !== undefined, isGone: proxy === undefined });
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
    if (wait === 0) this.#left.delete(text);
    if (tunnel !== undefined) return { requeueAfter: HEARTBEAT };
    return wait > 0 ? { requeueAfter: wait } : expiring(proxy, now());
  }

  #note(text: string, { isHere, isGone }: { readonly isHere: boolean; readonly isGone: boolean }): void {
    if (isHere) this.#held.add(text);
    else if (this.#held.delete(text) && !isGone) this.#left.set(text, performance.now());
    if (isHere || isGone) this.#left.delete(text);
  }

  /** How much longer its agent is waited for, ms, by who had its tunnel, or has just begun; another hub may have it, and says so. */
  #awaited(text: string, { status }: ClusterProxy): number {
    const { epoch, lastHeartbeatTime = "" } = status?.agent ?? {};
    if (epoch === undefined) return 0;
    const { grace = GRACE, now } = this.#options;
    const at = performance.now();
    const left = this.#left.get(text);
    if (left !== undefined) return Math.max(0, left + grace - at);
    const heard = Date.parse(lastHeartbeatTime) + SILENT - now().getTime();
    return Math.max(0, this.#begun + grace - at, Number.isNaN(heard) ? 0 : heard);
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
