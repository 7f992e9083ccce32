import { ApiError, type StoredObject } from "@virtual-workspaces/apimachinery";
import { type Clock, sleep, systemClock } from "@virtual-workspaces/transport";
import { reportingErrors } from "../callbacks.ts";
import type { Client, ClientOptions } from "../client.ts";
import type { ResourceClient } from "../resource/resource-client.ts";
import { type Endpoint, type EndpointRun, type EndpointStatus, RunningEndpoint } from "./endpoint.ts";
import { reflectObject } from "./object-reflector.ts";
import { desiredEndpoints, endpointUrls, type InvalidEndpoint } from "./urls.ts";

/** Failure of an endpoint or of the watch. It is retried where that can help. */
export interface EndpointFailure {
  readonly error: unknown;
  /** URL of the endpoint. Missing if the watch of the object failed. */
  readonly url?: string;
}

/** Source of the URLs, and connections to them. */
export interface FollowedUrls<T extends object> {
  /** Client of the object's kind, in one logical cluster and, for a namespaced kind, in one namespace. */
  readonly resource: ResourceClient<T>;
  readonly name: string;
  /** Returns the URLs of the object. @default {@link endpointUrls} */
  readonly urls?: (object: StoredObject<T>) => Iterable<string>;
  /**
   * Translates a URL whose host is not reachable from here. If it throws, the URL is rejected and reported. Security: without
   * it, any user who may write the object's status decides where this client sends its credentials.
   */
  readonly rewrite?: (url: string) => string;
  /** Connects to an address. The client closes with its endpoint. */
  readonly connect: (address: string) => Client | ClientOptions;
  /** Time after which {@link Endpoints.synced} stops waiting for an endpoint, in ms. @default 10,000 */
  readonly patience?: number;
  /** Called for every failure: of the object's watch, of an endpoint, or for an invalid URL. */
  readonly onError: (failure: EndpointFailure) => void;
  /** Called for each status change of an endpoint. */
  readonly onChange?: (status: EndpointStatus) => void;
  /** Stops everything when it aborts. */
  readonly signal?: AbortSignal;
  /** Source of time. @default the system clock */
  readonly clock?: Clock;
}

/** Options of {@link followEndpoints}. */
export interface FollowEndpointsOptions<T extends object> extends FollowedUrls<T> {
  /** Starts the code of an endpoint and returns how to stop it. An error is retried. */
  readonly start: (endpoint: Endpoint) => Promise<EndpointRun | undefined> | EndpointRun | undefined;
}

/** Endpoints that an object lists. Each one runs while it is listed. Created by {@link followEndpoints}. */
export class Endpoints<T extends object = object> implements AsyncDisposable {
  /**
   * Resolves when the object was read, and each endpoint that it listed is ready, has failed, or has exceeded its patience.
   * An unreachable endpoint does not block the others. Rejects if this closes before that.
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
      onError: reportingErrors(given.onError),
      onChange: reportingErrors((status: EndpointStatus) => given.onChange?.(status)),
    };
    const { resource, name, clock = systemClock, signal } = options;
    this.#options = options;
    this.#clock = clock;
    this.synced = this.#sync();
    this.synced.catch(() => undefined); // callers need not await it
    this.#over = reflectObject({
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

  /** Statuses of the endpoints, by URL. */
  get statuses(): EndpointStatus[] {
    const statuses = [...this.#running.values()].map(({ status }) => status);
    return statuses.sort((a, b) => (a.url < b.url ? -1 : 1));
  }

  /** Listed URLs that are invalid. */
  get invalid(): readonly InvalidEndpoint[] {
    return this.#invalid;
  }

  /** Endpoints that are listed now. */
  get running(): RunningEndpoint[] {
    return [...this.#running.values()];
  }

  /** Whether this is closed. */
  get isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Calls back after each status change, until it is disposed. */
  watch(look: () => void): Disposable {
    const watcher = (): void => look();
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Stops all endpoints. Resolves when they have stopped. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Applies the object's list; a missing object lists nothing. An equal list changes nothing. */
  #changed(object: StoredObject<T> | undefined): void {
    if (this.#stop.signal.aborted) return;
    const { urls = endpointUrls, rewrite = (url) => url, onError } = this.#options;
    let found: Iterable<string> = [];
    try {
      found = object === undefined ? [] : urls(object);
    } catch (error) {
      onError({ error });
      return; // an unreadable list does not affect the running endpoints
    }
    const { addresses, invalid } = desiredEndpoints(found, rewrite);
    this.#tell(invalid);
    const removed = [...this.#running].filter(([url, { status }]) => addresses.get(url) !== status.address);
    for (const [url] of removed) this.#running.delete(url);
    // New endpoints start before old ones stop, so that the hand-over knows the heirs.
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

  /** Reports each invalid URL once, not at each change of the object. */
  #tell(invalid: readonly InvalidEndpoint[]): void {
    const known = new Set(this.#invalid.map(({ url, message }) => `${url} ${message}`));
    this.#invalid = invalid;
    for (const { url, message } of invalid)
      if (!known.has(`${url} ${message}`))
        this.#options.onError({ error: ApiError.badRequest(`invalid endpoint ${url}: ${message}`), url });
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
    this.#stop.abort(new Error(`endpoints of ${name}: closed`));
    this.#read.reject(new Error(`endpoints of ${name}: closed before the object was read`));
    for (const endpoint of this.#running.values()) this.#end(endpoint);
    this.#running.clear();
    await this.#over;
    await Promise.all(this.#stopping);
  }
}

/**
 * Runs code for each URL in an object's status, such as the shards of a virtual workspace in kcp. It starts when the URL
 * appears and stops when the URL is removed. The order of the list does not matter.
 */
export function followEndpoints<T extends object>(options: FollowEndpointsOptions<T>): Endpoints<T> {
  return new Endpoints(options);
}
