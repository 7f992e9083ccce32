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

/** What the controller of ClusterProxies works with. */
export interface StatusControllerOptions {
  readonly informer: ExportedObjects<ClusterProxy>;
  readonly tunnels: Tunnels;
  readonly hubs: Pick<Hubs, "id" | "other" | "reachable" | "synced">;
  readonly connections: Pick<Connections, "of">;
  /** By which statuses are written. */
  readonly client: Client;
  readonly urls: () => ServedUrls | undefined;
  /** How long an agent that has left may be on its way before it is said to be gone, ms. @default 10000 */
  readonly grace?: number | undefined;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

const GRACE = 10_000;
const WORKERS = 16;

/** Keeps the statuses of ClusterProxies in step with their tunnels. */
export class StatusController implements AsyncDisposable {
  readonly #options: StatusControllerOptions;
  readonly #controller: Controller<ClusterProxy>;
  /** Since when those whose agents have been there are seen to have no tunnel, by the clock of the process, ms. */
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
    if (proxy === undefined || proxy.metadata.deletionTimestamp !== undefined) {
      this.#missed.delete(proxyKeyText(key));
      return undefined;
    }
    if (isExpired(proxy, now())) tunnels.end(key, () => true);
    const place = client.cluster(key.cluster).resource(ClusterProxy);
    const { resourceVersion = "", annotations } = proxy.metadata;
    if (annotations?.[IS_MOUNT_ANNOTATION] === undefined) {
      await place.mergePatch(key.name, { metadata: { annotations: { [IS_MOUNT_ANNOTATION]: "true" } } }, { signal });
      return undefined; // it is told of again
    }
    const [tunnel] = tunnels.of(key);
    const hubs = this.#hubsOf(proxy, tunnel !== undefined);
    const wait = this.#awaited(proxyKeyText(key), proxy, hubs);
    const reachable = this.#options.hubs.reachable.map(({ url }) => url);
    const connection = this.#options.connections.of(proxy);
    const known = { tunnel, hubs, reachable, connection, isAwaited: wait > 0, urls: urls(), now: now() };
    const status = statusOf(proxy, known);
    if (!isDeepStrictEqual(status, proxy.status))
      await place.status
        .mergePatch(key.name, { metadata: { resourceVersion }, status }, { signal })
        // Another hub was before this one: it is told of that.
        .catch(onCode<unknown>(409, () => undefined));
    if (tunnel !== undefined) return { requeueAfter: HEARTBEAT };
    return wait > 0 ? { requeueAfter: wait } : expiring(proxy, now());
  }

  /** Which hubs have a tunnel: this one knows of itself, and of others what they have written, while they are there. */
  #hubsOf({ status }: ClusterProxy, isHere: boolean): readonly string[] {
    const { id, other } = this.#options.hubs;
    const others = (status?.agent?.hubs ?? []).filter((one) => other(one) !== undefined);
    return (isHere ? [...others, id] : others).sort();
  }

  /** How much longer an agent that no hub has is waited for, ms. */
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

/** What is written changes by itself when a certificate ends. */
function expiring({ status }: ClusterProxy, now: Date): ReconcileResult | undefined {
  const left = Date.parse(status?.agent?.certificateExpires ?? "") - now.getTime();
  return left > 0 ? { requeueAfter: Math.min(left + 1_000, HEARTBEAT) } : undefined;
}
