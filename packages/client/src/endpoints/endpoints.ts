import { ApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Clock, sleep, systemClock } from "@virtual-workspaces/transport";
import type { Client, ClientOptions } from "../client.ts";
import { guarded } from "../guarded.ts";
import type { ResourceClient } from "../resource-client.ts";
import { type Endpoint, type EndpointRun, type EndpointStatus, RunningEndpoint } from "./endpoint.ts";
import { followObject } from "./followed-object.ts";
import { endpointUrls, type InvalidEndpoint, wantedOf } from "./urls.ts";

/** Something that went wrong, and is tried again where that can help. */
export interface EndpointFailure {
  readonly error: unknown;
  /** The endpoint; none where it is the object itself. */
  readonly url?: string;
}

/** Which URLs are followed, and how they are reached. */
export interface FollowedUrls<T extends object> {
  /** Where the object is: in one logical cluster, and for a namespaced kind in one namespace. */
  readonly resource: ResourceClient<T>;
  readonly name: string;
  /** @default {@link endpointUrls} */
  readonly urls?: (object: ObjectOf<T>) => Iterable<string>;
  /**
   * Where a URL is reached from here, when its host is known elsewhere only. What throws refuses the URL, which is then
   * reported: whoever can write the object's status decides where our credentials are sent, unless this has a say.
   */
  readonly rewrite?: (url: string) => string;
  /** How an address is talked to. The client is closed with its endpoint. */
  readonly connect: (address: string) => Client | ClientOptions;
  /** How long one endpoint may take before {@link Endpoints.synced} goes on without it, ms. @default 10,000 */
  readonly patience?: number;
  /** Told of every failure: of the object's watch, of an endpoint, of a URL that cannot be followed. */
  readonly onError: (failure: EndpointFailure) => void;
  /** Told of an endpoint whenever its status changes. */
  readonly onChange?: (status: EndpointStatus) => void;
  /** Ends everything. */
  readonly signal?: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
}

/** What {@link followEndpoints} is given. */
export interface FollowEndpointsOptions<T extends object> extends FollowedUrls<T> {
  /** Starts what is to run for an endpoint, and gives what ends it. What throws is tried again. */
  readonly start: (endpoint: Endpoint) => Promise<EndpointRun | undefined> | EndpointRun | undefined;
}

/** The endpoints that an object lists, each running for as long as it is listed. Made by {@link followEndpoints}. */
export class Endpoints<T extends object = object> implements AsyncDisposable {
  /**
   * Resolves when the object has been read, and each endpoint that it listed then is ready, or failed, or took too long:
   * one that cannot be reached does not stop the others. Rejects when it is closed before.
   */
  readonly synced: Promise<void>;
  readonly #options: FollowEndpointsOptions<T> & Required<Pick<FollowedUrls<T>, "onChange">>;
  readonly #clock: Clock;
  readonly #running = new Map<string, RunningEndpoint>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #read = Promise.withResolvers<void>();
  readonly #watchers = new Set<() => void>();
  readonly #over: Promise<void>;
  #invalid: readonly InvalidEndpoint[] = [];
  #closed: Promise<void> | undefined;

  constructor(given: FollowEndpointsOptions<T>) {
    const options = {
      ...given,
      onError: guarded(given.onError),
      onChange: guarded((status: EndpointStatus) => given.onChange?.(status)),
    };
    const { resource, name, clock = systemClock, signal } = options;
    this.#options = options;
    this.#clock = clock;
    this.synced = this.#sync();
    this.synced.catch(() => undefined); // who does not wait for it need not know
    this.#over = followObject({
      resource,
      name,
      clock,
      signal: this.#stop.signal,
      changed: (object) => this.#changed(object),
      failed: (error) => options.onError({ error }),
    });
    const end = (): void => void this[Symbol.asyncDispose]();
    signal?.addEventListener("abort", end, { once: true });
    this.#stop.signal.addEventListener("abort", () => signal?.removeEventListener("abort", end));
    if (signal?.aborted === true) end();
  }

  /** How each endpoint is, by URL. */
  get statuses(): EndpointStatus[] {
    const statuses = [...this.#running.values()].map(({ status }) => status);
    return statuses.sort((a, b) => (a.url < b.url ? -1 : 1));
  }

  /** What is listed and cannot be followed. */
  get invalid(): readonly InvalidEndpoint[] {
    return this.#invalid;
  }

  /** Those that are listed now. */
  get running(): RunningEndpoint[] {
    return [...this.#running.values()];
  }

  /** Whether nothing is followed any more. */
  get isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Calls back after each change of a status, until it is disposed of. */
  watch(look: () => void): Disposable {
    const watcher = (): void => look();
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Ends all of them; resolves when that is done. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The object is the truth of the list, and without it there is none. An equal list changes nothing. */
  #changed(object: ObjectOf<T> | undefined): void {
    if (this.#stop.signal.aborted) return;
    const { urls = endpointUrls, rewrite = (url) => url, onError } = this.#options;
    let found: Iterable<string> = [];
    try {
      found = object === undefined ? [] : urls(object);
    } catch (error) {
      onError({ error });
      return; // what cannot be read says nothing about those that run
    }
    const { addresses, invalid } = wantedOf(found, rewrite);
    this.#tell(invalid);
    const removed = [...this.#running].filter(([url, { status }]) => addresses.get(url) !== status.address);
    for (const [url] of removed) this.#running.delete(url);
    // The new before the old end: who is handed over must know to whom.
    for (const [url, address] of addresses)
      if (!this.#running.has(url)) this.#running.set(url, this.#endpoint(url, address));
    for (const [, endpoint] of removed) this.#end(endpoint);
    this.#read.resolve();
  }

  #endpoint(url: string, address: string): RunningEndpoint {
    const { connect, start, onError, onChange } = this.#options;
    return new RunningEndpoint({
      url,
      address,
      connect,
      start,
      clock: this.#clock,
      failed: (error) => onError({ error, url }),
      changed: ({ status }) => {
        onChange(status);
        for (const look of [...this.#watchers]) look();
      },
    });
  }

  #end(endpoint: RunningEndpoint): void {
    const over = endpoint.stop();
    this.#stopping.add(over);
    const forget = (): void => void this.#stopping.delete(over);
    over.then(forget, forget);
  }

  /** Each once, not with every change of the object. */
  #tell(invalid: readonly InvalidEndpoint[]): void {
    const known = new Set(this.#invalid.map(({ url, message }) => `${url} ${message}`));
    this.#invalid = invalid;
    for (const { url, message } of invalid)
      if (!known.has(`${url} ${message}`))
        this.#options.onError({ error: ApiError.badRequest(`endpoint ${url}: ${message}`), url });
  }

  async #sync(): Promise<void> {
    await this.#read.promise;
    const first = [...this.#running.values()];
    const settled = new AbortController();
    const look = (): void => {
      if (first.every(({ status }) => status.ready !== "Unknown")) settled.abort();
    };
    using _ = this.watch(look);
    look();
    await sleep(this.#options.patience ?? 10_000, { clock: this.#clock, signal: settled.signal });
  }

  async #close(): Promise<void> {
    const { name } = this.#options;
    this.#stop.abort(new Error(`the endpoints of ${name} are not followed any more`));
    this.#read.reject(new Error(`the endpoints of ${name}: closed before they were read`));
    for (const endpoint of this.#running.values()) this.#end(endpoint);
    this.#running.clear();
    await this.#over;
    await Promise.all(this.#stopping);
  }
}

/**
 * Follows the URLs that an object lists in its status, as kcp publishes the shards of a virtual workspace: starts something
 * for each as it appears, and ends it as it goes. The order of the list does not matter.
 */
export function followEndpoints<T extends object>(options: FollowEndpointsOptions<T>): Endpoints<T> {
  return new Endpoints(options);
}
