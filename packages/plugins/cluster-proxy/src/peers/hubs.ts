import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type Client, Informer } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { IDENTITY_SECRET_NAMESPACE, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { sleep } from "@virtual-workspaces/transport";
import { createInSystem } from "../enrolment/hub-keys.ts";
import { type HubAddress, type HubInfo, type HubLease, hubOf, LEASE, leaseName, leasesOf, newLease } from "./lease.ts";

/** Options of {@link Hubs}. */
export interface HubsOptions {
  /** Client with read and write access to `root`. */
  readonly client: Client;
  readonly shard: string;
  /** Address of this hub; `undefined` if it has none of its own. */
  readonly address: HubAddress | undefined | Promise<HubAddress | undefined>;
  readonly now: () => Date;
  /** Interval between renewals of the Lease, ms. @default 5000 */
  readonly renewEvery?: number | undefined;
  /** Called when a hub appears, disappears or changes its address. */
  readonly changed: () => void;
  /** Called when a hub has renewed its Lease. */
  readonly renewed: (id: string) => void;
  readonly onError: (error: unknown) => void;
}

interface HubEntry {
  readonly hub: HubInfo;
  readonly renewTime: string | undefined;
  /** Whether it has renewed its Lease since this hub started. */
  readonly isRenewed: boolean;
  /** Number of renewals of this hub since the last one of that hub. */
  missed: number;
}

const RENEW = 5_000;
/** Number of missed renewals after which a hub counts as gone; its Lease is deleted later. */
const MISSED = 3;
const FORGOTTEN = 12;

/**
 * Hubs of a shard, each with a Lease in `kcp-system` of `root`. Renewals of others are counted against this hub's own in the same watch, so
 * clock differences or an unreachable server do not make hubs appear gone.
 */
export class Hubs implements AsyncDisposable {
  /** Id of this process. */
  readonly id: string = randomBytes(5).toString("hex");
  readonly #options: HubsOptions;
  readonly #root: Client;
  readonly #begun: Date;
  readonly #leases: Informer<object>;
  readonly #known = new Map<string, HubEntry>();
  readonly #over = new AbortController();
  #address: HubAddress | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: HubsOptions) {
    this.#options = options;
    this.#root = options.client.cluster(ROOT_CLUSTER);
    this.#begun = options.now();
    const resource = this.#root.resource<object>(LEASE).in(IDENTITY_SECRET_NAMESPACE);
    this.#leases = new Informer({ resource, labels: leasesOf(options.shard) });
    this.#leases.on({
      added: (lease) => this.#heard(lease as HubLease),
      updated: (lease) => this.#heard(lease as HubLease),
      deleted: (lease) => this.#lost(hubOf(lease as HubLease).id),
      lifecycle: (event) => {
        if (event.type === "error") options.onError(event.error);
        if (event.type === "synced") options.changed();
      },
    });
  }

  /** Resolves when the other hubs are known. */
  get synced(): Promise<void> {
    return this.#leases.synced;
  }

  /** Returns another live hub by its id. */
  readonly other = (id: string): HubInfo | undefined => {
    const known = this.#known.get(id);
    return known !== undefined && id !== this.id && this.#isThere(known) ? known.hub : undefined;
  };

  /** Live hubs with an address, including this one unless it is shutting down. */
  get reachable(): readonly (HubInfo & HubAddress)[] {
    const all = [...this.#known.values()].filter((known) => this.#isThere(known)).map(({ hub }) => hub);
    return all.filter((hub): hub is HubInfo & HubAddress => hub.url !== undefined).sort(byId);
  }

  /** Starts to renew the Lease and to watch those of others. */
  start(): void {
    this.#leases.start();
    this.#running = this.#renewing(this.#over.signal);
  }

  /** Deletes the Lease before a shutdown, so that others stop to use this hub. */
  async leave(): Promise<void> {
    if (this.#over.signal.aborted) return this.#running;
    this.#over.abort();
    this.#running = this.#running.then(() => this.#drop(this.id));
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.leave(), this.#leases.stop()]);
  }

  async #renewing(signal: AbortSignal): Promise<void> {
    const { renewEvery = RENEW, address, onError } = this.#options;
    const ended = once(signal, "abort").then(() => undefined);
    this.#address = await Promise.race([address, ended]);
    while (!signal.aborted) {
      await this.#renew().catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
      await sleep(renewEvery, { signal });
    }
  }

  async #renew(): Promise<void> {
    const { shard, now } = this.#options;
    const lease = newLease({ id: this.id, ...this.#address }, { shard, begun: this.#begun, now: now() });
    const leases = this.#root.resource(LEASE).in(IDENTITY_SECRET_NAMESPACE);
    const { annotations } = lease.metadata;
    const renewed = { metadata: { annotations }, spec: { renewTime: lease.spec.renewTime } };
    await leases
      .mergePatch(lease.metadata.name, renewed)
      .catch(onCode<unknown>(404, () => createInSystem(this.#root, LEASE, lease)));
  }

  async #drop(id: string): Promise<void> {
    await this.#root
      .resource(LEASE)
      .in(IDENTITY_SECRET_NAMESPACE)
      .delete(leaseName(id))
      .catch(onCode<unknown>(404, () => undefined))
      .catch(this.#options.onError);
  }

  #heard(lease: HubLease): void {
    const hub = hubOf(lease);
    const before = this.#known.get(hub.id);
    const renewTime = lease.spec?.renewTime;
    if (before !== undefined && before.renewTime === renewTime) return;
    const known = { hub, renewTime, isRenewed: before !== undefined, missed: 0 };
    this.#known.set(hub.id, known);
    this.#options.renewed(hub.id);
    const isMoved = before?.hub.url !== hub.url || before?.hub.ca !== hub.ca;
    const isNews = before === undefined || !this.#isThere(before) || isMoved;
    const isLess = hub.id === this.id && this.#count();
    if (isNews || isLess) this.#options.changed();
  }

  /** Counts a renewal of this hub. @returns whether another hub is gone by now */
  #count(): boolean {
    let isLess = false;
    for (const [id, known] of this.#known) {
      if (id === this.id) continue;
      known.missed += 1;
      if (known.missed === MISSED) isLess = true;
      if (known.missed === FORGOTTEN) void this.#drop(id);
    }
    return isLess;
  }

  #lost(id: string): void {
    if (this.#known.delete(id)) this.#options.changed();
  }

  /** A hub with this one's address counts as ended, unless it renews its Lease. */
  #isThere({ hub, isRenewed, missed }: HubEntry): boolean {
    const isBefore = !isRenewed && hub.id !== this.id && hub.url !== undefined && hub.url === this.#address?.url;
    return missed < MISSED && !isBefore;
  }
}

function byId(one: HubInfo, other: HubInfo): number {
  return one.id < other.id ? -1 : 1;
}
