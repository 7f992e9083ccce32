import { Client, type Controller, controller, type ReconcileResult } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import {
  CLUSTER_PROXY_EXPORT,
  ClusterProxy,
  LOGICAL_CLUSTER_NAME,
  LogicalCluster,
  ROOT_SHARD,
} from "@virtual-workspaces/kcp";
import {
  ExportedObjects,
  exportedKey,
  Related,
  type ServedUrls,
  ShardLocation,
} from "@virtual-workspaces/kcp/informers";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { sleep, type Upstream } from "@virtual-workspaces/transport";
import { AgentRecords, isRevoked } from "../enrolment/agent-records.ts";
import { AgentUsers } from "../enrolment/agent-users.ts";
import { HubKeys } from "../enrolment/hub-keys.ts";
import { HubTokens } from "../enrolment/tokens.ts";
import { Hubs } from "../peers/hubs.ts";
import type { HubAddress } from "../peers/lease.ts";
import { PeerRoutes, type Route } from "../peers/peer-routes.ts";
import { type ProxyKey, proxyKeyFrom, proxyKeyText } from "../protocol/proxy-key.ts";
import type { TunnelEndOptions } from "../tunnel/end.ts";
import { Connections } from "./connections.ts";
import { ProxyCache } from "./proxy-cache.ts";
import { RemoteClusters } from "./remote-clusters.ts";
import { StatusController } from "./status-controller.ts";
import { Tunnels } from "./tunnels.ts";

/** Options of {@link clusterProxy}. */
export interface ClusterProxyOptions extends Pick<Workspaces, "upstream" | "everywhere" | "shard"> {
  /** URLs in the status of ClusterProxies. @default that of the Shard named {@link Workspaces.shard}, by default `root` */
  readonly urls?: ServedUrls;
  /**
   * Address of this process itself, and not of a load balancer. Other hubs send it requests for its tunnels, and agents dial it for further
   * tunnels. It may be a promise if it is not known yet.
   * @default none: requests at other hubs do not use this hub's tunnels
   */
  readonly address?: HubAddress | Promise<HubAddress | undefined>;
  /** Interval between renewals of a hub's Lease, ms. A hub that has missed three counts as gone. @default 5000 */
  readonly renewEvery?: number;
  /** Server for SubjectAccessReviews. @default `upstream` */
  readonly reviews?: Upstream;
  /** Cache duration of an allowed review, ms. @default 10000 */
  readonly allowCache?: number;
  /** Lifetime of agents' certificates, ms. Agents renew them after two thirds of it. @default 30 days */
  readonly certificateLifetime?: number;
  /** Windows and heartbeat of tunnels. */
  readonly tunnel?: TunnelEndOptions;
  /** Time that a request waits for an agent to redial, ms. @default 3000 */
  readonly patience?: number;
  /** Time after the end of a tunnel before the ClusterProxy reports the agent as disconnected, ms. @default 10000 */
  readonly grace?: number;
  /** @default the system clock */
  readonly now?: () => Date;
  /** Receives errors, without secrets. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

const DAY = 24 * 60 * 60 * 1000;
/** Logical clusters whose paths are read at the same time. */
const PATHS_AT_ONCE = 8;
/** Time until the path of a logical cluster that has none is read again, ms: a hub without the right to read it must not read all the time. */
const PATH_AGAIN = 60_000;

/** State of a hub: the ClusterProxies of a shard, the tunnels of agents, and the other hubs of the shard. */
export class Hub {
  readonly options: Required<Pick<ClusterProxyOptions, "onError">> & ClusterProxyOptions;
  readonly now: () => Date;
  /** ms */
  readonly certificateLifetime: number;
  readonly proxies: ProxyCache;
  readonly tunnels: Tunnels;
  readonly hubs: Hubs;
  readonly peers: PeerRoutes;
  readonly waiters: RouteWaiters;
  readonly remotes: RemoteClusters;
  readonly connections: Connections;
  readonly keys: HubKeys;
  readonly users: AgentUsers;
  readonly records: AgentRecords;
  readonly #objects: ExportedObjects<ClusterProxy>;
  readonly #secrets: Related;
  readonly #location: ShardLocation;
  readonly #client: Client;
  #controller: StatusController | undefined;
  #paths: Controller | undefined;

  /** @throws Error on invalid options */
  constructor({ onError = warn, ...given }: ClusterProxyOptions) {
    const { upstream, everywhere = upstream, shard, urls, address, patience, certificateLifetime = 30 * DAY } = given;
    if (!(certificateLifetime >= 1_000)) throw new Error("invalid certificateLifetime: use at least 1000 ms");
    this.options = { ...given, onError };
    this.now = given.now ?? (() => new Date());
    this.certificateLifetime = certificateLifetime;
    this.#client = new Client({ upstream, cluster: "*" });
    const everywhereClient = new Client({ upstream: everywhere, cluster: "*" });
    this.proxies = new ProxyCache((cluster) =>
      this.#paths?.add({ cluster, namespace: "", name: LOGICAL_CLUSTER_NAME }),
    );
    this.#secrets = new Related({
      client: this.#client,
      shard: { client: this.#client, has: () => true },
      onError,
      changed: (text) => this.#secretChanged(proxyKeyFrom(text)),
    });
    this.connections = new Connections(this.#secrets);
    this.waiters = new RouteWaiters(patience);
    this.tunnels = new Tunnels((key) => {
      this.waiters.notify(key);
      this.#controller?.add(key);
    }, onError);
    this.remotes = new RemoteClusters((key) => this.#routesTo(key), onError);
    this.keys = new HubKeys(everywhereClient, this.now);
    this.hubs = new Hubs({
      client: everywhereClient,
      shard: shard ?? ROOT_SHARD,
      address,
      renewEvery: given.renewEvery,
      now: this.now,
      changed: () => this.#hubsChanged(),
      renewed: (id) => this.peers.renewed(id),
      onError,
    });
    const tokens = new HubTokens(this.hubs.id, this.now);
    this.peers = new PeerRoutes({ hubs: this.hubs, keys: this.keys, tokens, onError });
    this.users = new AgentUsers({ keys: this.keys, tokens, now: this.now, onError });
    this.records = new AgentRecords(this.#client, this.now);
    const [name, kind] = [CLUSTER_PROXY_EXPORT, ClusterProxy];
    this.#objects = new ExportedObjects({ client: this.#client, everywhere: everywhereClient, name, kind, onError });
    this.#location = new ShardLocation({
      client: everywhereClient,
      shard,
      urls,
      changed: () => this.#controller?.recheck(),
      onError,
    });
  }

  /** Resolves when the ClusterProxies have been read, also without an APIExport. */
  ready(): Promise<void> {
    return this.#objects.synced;
  }

  /** Waits for a route to a remote cluster if there is none. @throws the signal's reason */
  waitFor(key: ProxyKey, signal: AbortSignal): Promise<void> {
    return this.waiters.wait(key, () => this.#routesTo(key).length > 0, signal);
  }

  /** Starts the hub, until the result is disposed of. */
  start(): AsyncDisposable {
    const { onError } = this.options;
    const objects = this.#objects;
    // The hub handles a change before the controller does.
    objects.on({
      added: (proxy) => this.#set(proxy),
      updated: (proxy) => this.#set(proxy),
      deleted: (_, { key }) => {
        this.proxies.delete(key);
        this.peers.lost(key, []);
        this.connections.forget(proxyKeyText(key));
        this.remotes.changed(key, undefined);
        this.tunnels.end(key, () => true);
      },
    });
    this.#paths = controller({
      name: "paths-of-cluster-proxies",
      sources: [],
      reconcile: ({ cluster }, { signal }) => this.#readPath(cluster, signal),
      workers: PATHS_AT_ONCE,
      onError: ({ error }) => onError(error),
    });
    this.#controller = new StatusController({
      informer: objects,
      tunnels: this.tunnels,
      hubs: this.hubs,
      connections: this.connections,
      client: this.#client,
      urls: () => this.#location.get(),
      grace: this.options.grace,
      now: this.now,
      onError,
    });
    this.hubs.start();
    this.#location.start();
    objects.start();
    return {
      [Symbol.asyncDispose]: async () => {
        await Promise.all([this.#controller?.[Symbol.asyncDispose](), this.#paths?.stop()]);
        const all = [this.hubs, this.peers, this.tunnels, objects, this.#secrets, this.#location];
        await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
      },
    };
  }

  /**
   * Reads the path of a logical cluster, once: workspaces are not renamed. A watch for each would be as many as there are workspaces with
   * ClusterProxies.
   */
  async #readPath(cluster: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (!this.proxies.has(cluster)) return undefined;
    const place = this.#client.cluster(cluster).resource(LogicalCluster);
    // kcp answers 403 for a workspace that does not exist.
    const found = await place
      .get(LOGICAL_CLUSTER_NAME, { signal })
      .catch(onCode(403, () => undefined))
      .catch(onCode(404, () => undefined));
    if (!this.proxies.has(cluster)) return undefined;
    const path = found?.metadata.annotations?.[PATH_ANNOTATION];
    this.proxies.setPath(cluster, path);
    return path === undefined ? { requeueAfter: PATH_AGAIN } : undefined;
  }

  /** Returns the hub's own tunnels, the newest first, and then other hubs with tunnels. */
  #routesTo(key: ProxyKey): readonly Route[] {
    const { hubs = [] } = this.proxies.get(key)?.status?.agent ?? {};
    return [...this.tunnels.of(key).map(({ end }) => end), ...this.peers.of(key, hubs)];
  }

  /** Closes connections with outdated settings. */
  #connected(key: ProxyKey, proxy: ClusterProxy): void {
    const connection = this.connections.of(proxy);
    this.remotes.changed(key, "reason" in connection ? undefined : connection);
  }

  #secretChanged(key: ProxyKey): void {
    const proxy = this.proxies.get(key);
    if (proxy === undefined) return;
    this.#connected(key, proxy);
    this.#controller?.add(key);
  }

  #hubsChanged(): void {
    this.peers.changed();
    this.#controller?.recheck();
  }

  /** Closes tunnels of agents that are no longer valid, also in a hub whose cache was stale when it accepted them. */
  #set(proxy: ClusterProxy): void {
    this.proxies.set(proxy);
    const { epoch = 0, enrolment, hubs = [] } = proxy.status?.agent ?? {};
    const key = exportedKey(proxy);
    this.peers.lost(key, hubs);
    this.#connected(key, proxy);
    this.waiters.notify(key);
    const isOver = enrolment !== undefined && isRevoked(proxy, Date.parse(enrolment.time));
    // The cached object may be older than the tunnel.
    this.tunnels.end(
      key,
      (tunnel) =>
        tunnel.epoch < epoch ||
        tunnel.tokenIssued < (enrolment?.tokenIssued ?? 0) ||
        (isOver && tunnel.enrolment === enrolment.id),
    );
  }
}

function warn(error: unknown): void {
  process.emitWarning(`view of cluster proxies: ${String(error)}`);
}

/** Time that a request waits for an agent to redial, ms. */
const PATIENCE = 3_000;

/** Requests that wait for a route to their remote cluster. */
class RouteWaiters {
  readonly #patience: number;
  readonly #waiting = new Map<string, Set<() => void>>();

  /** @param patience time limit, ms */
  constructor(patience: number = PATIENCE) {
    this.#patience = patience;
  }

  /** Wakes the requests of a remote cluster. */
  notify(key: ProxyKey): void {
    for (const look of this.#waiting.get(proxyKeyText(key)) ?? []) look();
  }

  /** Waits for a route up to the time limit. @throws the signal's reason */
  async wait(key: ProxyKey, isThere: () => boolean, signal: AbortSignal): Promise<void> {
    if (isThere()) return;
    const text = proxyKeyText(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (isThere()) resolve();
    };
    const waiting = this.#waiting.get(text) ?? new Set();
    this.#waiting.set(text, waiting.add(look));
    const late = new AbortController();
    try {
      const over = sleep(this.#patience, { signal: AbortSignal.any([signal, late.signal]), ref: false });
      await Promise.race([promise, over.then(() => signal.throwIfAborted())]);
    } finally {
      late.abort();
      waiting.delete(look);
      if (waiting.size === 0) this.#waiting.delete(text);
    }
  }
}
