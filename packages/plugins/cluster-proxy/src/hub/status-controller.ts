import { isDeepStrictEqual } from "node:util";
import { type Client, type Controller, controller, type ReconcileResult } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { type ExportedObjects, exportedKey, type ServedUrls } from "@virtual-workspaces/kcp/informers";
import { IS_MOUNT_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { Hubs } from "../peers/hubs.ts";
import { type ProxyKey, proxyKeyText } from "../protocol/proxy-key.ts";
import type { Connections } from "./connections.ts";
import { HEARTBEAT, statusOf } from "./status.ts";
import type { Tunnels } from "./tunnels.ts";

/** Options of {@link StatusController}. */
export interface StatusControllerOptions {
  readonly informer: ExportedObjects<ClusterProxy>;
  readonly tunnels: Tunnels;
  readonly hubs: Pick<Hubs, "id" | "other" | "reachable" | "synced">;
  readonly connections: Pick<Connections, "of">;
  /** Client that writes statuses. */
  readonly client: Client;
  readonly urls: () => ServedUrls | undefined;
  /** Time after the end of a tunnel before the agent counts as disconnected, ms. @default 10000 */
  readonly grace?: number | undefined;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

const GRACE = 10_000;
const WORKERS = 16;

/** Controller that updates the statuses of ClusterProxies from their tunnels. */
export class StatusController implements AsyncDisposable {
  readonly #options: StatusControllerOptions;
  readonly #controller: Controller<ClusterProxy>;
  /** Time since which an agent has no tunnel, by the monotonic clock, ms. */
  readonly #missed = new Map<string, number>();

  constructor(options: StatusControllerOptions) {
    this.#options = options;
    const { informer, onError } = options;
    this.#controller = controller<ClusterProxy>({
      name: "cluster-proxies",
      sources: [{ informer }],
      reconcile: async ({ cluster, name }, { object, signal }) => {
        await options.hubs.synced;
        return this.#reconcile({ cluster, name }, object, signal);
      },
      workers: WORKERS,
      onError: ({ error }) => onError(error),
    });
  }

  /** Queues a ClusterProxy after a change of its tunnels. */
  add({ cluster, name }: ProxyKey): void {
    this.#controller.add({ cluster, namespace: "", name });
  }

  /** Queues all ClusterProxies. */
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
    if (proxy === undefined || proxy.metadata.deletionTimestamp !== undefined) {
      this.#missed.delete(proxyKeyText(key));
      return undefined;
    }
    if (isExpired(proxy, now())) tunnels.end(key, () => true);
    const place = client.cluster(key.cluster).resource(ClusterProxy);
    const { resourceVersion = "", annotations } = proxy.metadata;
    if (annotations?.[IS_MOUNT_ANNOTATION] === undefined) {
      await place.mergePatch(key.name, { metadata: { annotations: { [IS_MOUNT_ANNOTATION]: "true" } } }, { signal });
      return undefined; // The update triggers another reconciliation.
    }
    const [tunnel] = tunnels.of(key);
    const hubs = this.#hubsOf(proxy, tunnel !== undefined);
    const wait = this.#awaited(proxyKeyText(key), proxy, hubs);
    const reachable = this.#options.hubs.reachable.map(({ url }) => url);
    const connection = this.#options.connections.of(proxy);
    // One of several hubs reports the API server: their agents' pings arrive at different times.
    const api = hubs[0] === this.#options.hubs.id ? tunnel?.api : undefined;
    const known = { tunnel, hubs, api, reachable, connection, isAwaited: wait > 0, urls: urls(), now: now() };
    const status = statusOf(proxy, known);
    if (!isDeepStrictEqual(status, proxy.status))
      await place.status
        .mergePatch(key.name, { metadata: { resourceVersion }, status }, { signal })
        // Another hub was first; its write triggers another reconciliation.
        .catch(onCode<unknown>(409, () => undefined));
    if (tunnel !== undefined) return { requeueAfter: HEARTBEAT };
    return wait > 0 ? { requeueAfter: wait } : expiring(proxy, now());
  }

  /** Returns the hubs with a tunnel: this one by its own state, and live others by the status that they have written. */
  #hubsOf({ status }: ClusterProxy, isHere: boolean): readonly string[] {
    const { id, other } = this.#options.hubs;
    const others = (status?.agent?.hubs ?? []).filter((one) => other(one) !== undefined);
    return (isHere ? [...others, id] : others).sort();
  }

  /** Returns the remaining grace period of an agent without a tunnel, ms. */
  #awaited(text: string, { status }: ClusterProxy, hubs: readonly string[]): number {
    if (hubs.length > 0 || status?.agent?.epoch === undefined) {
      this.#missed.delete(text);
      return 0;
    }
    const at = performance.now();
    const missed = this.#missed.get(text) ?? at;
    this.#missed.set(text, missed);
    const { grace = GRACE } = this.#options;
    return Math.max(0, missed + grace - at);
  }
}

function isExpired({ status }: ClusterProxy, now: Date): boolean {
  return Date.parse(status?.agent?.certificateExpires ?? "") < now.getTime();
}

/** Requeues at the expiry of the certificate, which changes the status. */
function expiring({ status }: ClusterProxy, now: Date): ReconcileResult | undefined {
  const left = Date.parse(status?.agent?.certificateExpires ?? "") - now.getTime();
  return left > 0 ? { requeueAfter: Math.min(left + 1_000, HEARTBEAT) } : undefined;
}
