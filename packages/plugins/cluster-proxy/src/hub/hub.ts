import { Client } from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { CLUSTER_PROXY_EXPORT, ClusterProxy, ROOT_SHARD } from "@virtual-workspaces/kcp";
import {
  ExportedObjects,
  exportedKey,
  Related,
  type ServedUrls,
  ShardLocation,
} from "@virtual-workspaces/kcp/informers";
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

/** What {@link clusterProxy} is over. */
export interface ClusterProxyOptions extends Pick<Workspaces, "upstream" | "everywhere" | "shard"> {
  /** What ClusterProxies say where they are. @default as the Shard says that is named {@link Workspaces.shard}, `root` by default */
  readonly urls?: ServedUrls;
  /**
   * Where this process is reached by itself, and not by a balancer: hubs send one another there what goes by tunnels of another, and agents dial it for a further tunnel.
   * A promise where it is not known yet. @default nowhere: what reaches other hubs does not come by the tunnels of this one
   */
  readonly address?: HubAddress | Promise<HubAddress | undefined>;
  /** How often hubs show one another that they are there, ms: one that has missed three times is gone. @default 5000 */
  readonly renewEvery?: number;
  /** The server that is asked what callers may do. @default `upstream` */
  readonly reviews?: Upstream;
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
  /** How long agents' certificates are good, ms: each renews its own when two thirds of that are over. @default 30 days */
  readonly certificateLifetime?: number;
  /** Windows and heartbeat of tunnels. */
  readonly tunnel?: TunnelEndOptions;
  /** How long a request waits for an agent that dials again, ms. @default 3000 */
  readonly patience?: number;
  /** How long an agent that has left may be on its way before its ClusterProxy says that it is gone, ms. @default 10000 */
  readonly grace?: number;
  /** @default the machine's clock */
  readonly now?: () => Date;
  /** Told what goes wrong, without anything secret. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

const DAY = 24 * 60 * 60 * 1000;

/** What a hub has: the ClusterProxies of a shard, followed, the tunnels that agents have dialled, and the other hubs of the shard. */
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
  readonly #related: Related;
  readonly #secrets: Related;
  readonly #location: ShardLocation;
  readonly #client: Client;
  #controller: StatusController | undefined;

  /** @throws Error on options that cannot be used */
  constructor({ onError = warn, ...given }: ClusterProxyOptions) {
    const { upstream, everywhere = upstream, shard, urls, address, patience, certificateLifetime = 30 * DAY } = given;
    if (!(certificateLifetime >= 1_000)) throw new Error("certificateLifetime: give milliseconds, a second at least");
    this.options = { ...given, onError };
    this.now = given.now ?? (() => new Date());
    this.certificateLifetime = certificateLifetime;
    this.#client = new Client({ upstream, cluster: "*" });
    const everywhereClient = new Client({ upstream: everywhere, cluster: "*" });
    this.#related = new Related({
      client: this.#client,
      onError,
      changed: (cluster) => this.proxies.pathChanged(cluster),
    });
    this.proxies = new ProxyCache(this.#related);
    this.#secrets = new Related({
      client: this.#client,
      onError,
      changed: (text) => this.#secretChanged(proxyKeyFrom(text)),
    });
    this.connections = new Connections(this.#secrets);
    this.waiters = new RouteWaiters(patience);
    this.tunnels = new Tunnels((key) => {
      this.waiters.notify(key);
      this.#controller?.add(key);
    });
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
    });
  }

  /** Resolves once the ClusterProxies that there are have been read; also where nobody exports any. */
  ready(): Promise<void> {
    return this.#objects.synced;
  }

  /** Waits a little for a route to a remote cluster, where there is none. @throws the signal's reason */
  waitFor(key: ProxyKey, signal: AbortSignal): Promise<void> {
    return this.waiters.wait(key, () => this.#routesTo(key).length > 0, signal);
  }

  /** Begins, until what it gives is disposed of. */
  start(): AsyncDisposable {
    const { onError } = this.options;
    const objects = this.#objects;
    // Known before the controller hears of it.
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
        await this.#controller?.[Symbol.asyncDispose]();
        const all = [this.hubs, this.peers, this.tunnels, objects, this.#related, this.#secrets, this.#location];
        await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
      },
    };
  }

  /** Its own tunnels, the newest first, and then the hubs that have one. */
  #routesTo(key: ProxyKey): readonly Route[] {
    const { hubs = [] } = this.proxies.get(key)?.status?.agent ?? {};
    return [...this.tunnels.of(key).map(({ end }) => end), ...this.peers.of(key, hubs)];
  }

  /** What was open otherwise than it is to be asked now is cut. */
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

  /** Whoever is no agent of it any more has no tunnel either: here, and at the hubs that did not hear of it first. */
  #set(proxy: ClusterProxy): void {
    this.proxies.set(proxy);
    const { epoch = 0, enrolment, hubs = [] } = proxy.status?.agent ?? {};
    const key = exportedKey(proxy);
    this.peers.lost(key, hubs);
    this.#connected(key, proxy);
    this.waiters.notify(key);
    const isOver = enrolment !== undefined && isRevoked(proxy, Date.parse(enrolment.time));
    // What is read may be older than the tunnel.
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

/** How long a request waits for an agent that dials again, ms. */
const PATIENCE = 3_000;

/** Requests that wait for a route to their remote cluster. */
class RouteWaiters {
  readonly #patience: number;
  readonly #waiting = new Map<string, Set<() => void>>();

  /** @param patience how long they do, ms */
  constructor(patience: number = PATIENCE) {
    this.#patience = patience;
  }

  /** There may be a route now. */
  notify(key: ProxyKey): void {
    for (const look of this.#waiting.get(proxyKeyText(key)) ?? []) look();
  }

  /** Waits a little until there is a route. @throws the signal's reason */
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
