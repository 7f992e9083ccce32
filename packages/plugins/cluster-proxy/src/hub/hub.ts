import { Client } from "@virtual-workspaces/client";
import {
  CLUSTER_PROXY_EXPORT,
  ClusterProxy,
  ExportedObjects,
  exportedKey,
  Related,
  ShardLocation,
} from "@virtual-workspaces/kcp";
import { AgentRecords, isRevoked } from "../enrolment/agent-records.ts";
import { AgentUsers } from "../enrolment/agent-users.ts";
import { HubKeys } from "../enrolment/hub-keys.ts";
import { KnownProxies } from "./known-proxies.ts";
import type { ClusterProxyOptions } from "./options.ts";
import { RemoteClusters } from "./remote-clusters.ts";
import { StatusController } from "./status-controller.ts";
import { Tunnels } from "./tunnels.ts";

const DAY = 24 * 60 * 60 * 1000;

/** What a hub has: the ClusterProxies of a shard, followed, and the tunnels that agents have dialled. */
export class Hub {
  readonly options: Required<Pick<ClusterProxyOptions, "onError">> & ClusterProxyOptions;
  readonly now: () => Date;
  /** ms */
  readonly certificateLifetime: number;
  readonly proxies: KnownProxies;
  readonly tunnels: Tunnels;
  readonly remotes: RemoteClusters;
  readonly keys: HubKeys;
  readonly users: AgentUsers;
  readonly records: AgentRecords;
  readonly #objects: ExportedObjects<ClusterProxy>;
  readonly #related: Related;
  readonly #location: ShardLocation;
  readonly #client: Client;
  #controller: StatusController | undefined;

  /** @throws Error on options that cannot be used */
  constructor({ onError = warn, ...given }: ClusterProxyOptions) {
    const { upstream, everywhere = upstream, shard, urls, patience, certificateLifetime = 30 * DAY } = given;
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
    this.proxies = new KnownProxies(this.#related);
    this.tunnels = new Tunnels({
      changed: (key) => this.#controller?.add(key),
      ...(patience !== undefined && { patience }),
    });
    this.remotes = new RemoteClusters(this.tunnels, onError);
    this.keys = new HubKeys(everywhereClient, this.now);
    this.users = new AgentUsers({ keys: this.keys, now: this.now, onError });
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
        this.tunnels.end(key, () => true);
      },
    });
    this.#controller = new StatusController({
      informer: objects,
      tunnels: this.tunnels,
      client: this.#client,
      urls: () => this.#location.get(),
      grace: this.options.grace,
      now: this.now,
      onError,
    });
    this.#location.start();
    objects.start();
    return {
      [Symbol.asyncDispose]: async () => {
        await this.#controller?.[Symbol.asyncDispose]();
        await Promise.all(
          [this.tunnels, objects, this.#related, this.#location].map((one) => one[Symbol.asyncDispose]()),
        );
      },
    };
  }

  /** Whoever is no agent of it any more has no tunnel either: here, and at the hubs that did not hear of it first. */
  #set(proxy: ClusterProxy): void {
    this.proxies.set(proxy);
    const { epoch = 0, enrolment } = proxy.status?.agent ?? {};
    const isOver = enrolment !== undefined && isRevoked(proxy, Date.parse(enrolment.time));
    // What is read may be older than the tunnel.
    this.tunnels.end(
      exportedKey(proxy),
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
