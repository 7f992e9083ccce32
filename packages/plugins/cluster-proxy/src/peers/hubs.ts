import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type Client, Informer } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { IDENTITY_SECRET_NAMESPACE, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { sleep } from "@virtual-workspaces/transport";
import { createInSystem } from "../enrolment/hub-keys.ts";
import { type HubAddress, type HubInfo, type HubLease, hubOf, LEASE, leaseName, leasesOf, newLease } from "./lease.ts";

/** Of which hubs, and who is told. */
export interface HubsOptions {
  /** By which `root` is read and written. */
  readonly client: Client;
  readonly shard: string;
  /** Where this one is; `undefined` where it cannot be reached by itself. */
  readonly address: HubAddress | undefined | Promise<HubAddress | undefined>;
  readonly now: () => Date;
  /** How often a Lease is renewed, ms. @default 5000 */
  readonly renewEvery?: number | undefined;
  /** There is another one, or one less, or one that said otherwise where it is. */
  readonly changed: () => void;
  /** One of them has shown that it is there. */
  readonly renewed: (id: string) => void;
  readonly onError: (error: unknown) => void;
}

interface HubEntry {
  readonly hub: HubInfo;
  readonly renewTime: string | undefined;
  /** Whether that was while this one has been there. */
  readonly isRenewed: boolean;
  /** How often this hub has been seen to be renewed since that one was. */
  missed: number;
}

const RENEW = 5_000;
/** A hub is gone that is not renewed while this one is so often; and so is its Lease, later. */
const MISSED = 3;
const FORGOTTEN = 12;

/**
 * The hubs of a shard, each with a Lease in `kcp-system` of `root`: who is there is told by renewals, counted by one's own that are seen in the same
 * watch, so that neither clocks nor a server that is away have hubs take one another for gone.
 */
export class Hubs implements AsyncDisposable {
  /** Of this process. */
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

  /** Resolves once it is known which others there are. */
  get synced(): Promise<void> {
    return this.#leases.synced;
  }

  /** The other one of that name, if it is there. */
  readonly other = (id: string): HubInfo | undefined => {
    const known = this.#known.get(id);
    return known !== undefined && id !== this.id && this.#isThere(known) ? known.hub : undefined;
  };

  /** All that are there and can be reached, this one among them unless it is about to end. */
  get reachable(): readonly (HubInfo & HubAddress)[] {
    const all = [...this.#known.values()].filter((known) => this.#isThere(known)).map(({ hub }) => hub);
    return all.filter((hub): hub is HubInfo & HubAddress => hub.url !== undefined).sort(byId);
  }

  /** Begins to say that this one is there, and to hear of the others. */
  start(): void {
    this.#leases.start();
    this.#running = this.#renewing(this.#over.signal);
  }

  /** This one is about to end: nobody is to count on it any more. */
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

  /** This one was renewed once more. @returns whether another is gone by that */
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

  /** Whoever was at this one's address before is no more, until it shows otherwise. */
  #isThere({ hub, isRenewed, missed }: HubEntry): boolean {
    const isBefore = !isRenewed && hub.id !== this.id && hub.url !== undefined && hub.url === this.#address?.url;
    return missed < MISSED && !isBefore;
  }
}

function byId(one: HubInfo, other: HubInfo): number {
  return one.id < other.id ? -1 : 1;
}
