import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type Clock, systemClock } from "@virtual-workspaces/transport";
import type { Source } from "../controller/source.ts";
import type { Endpoint, EndpointRun, RunningEndpoint } from "./endpoint.ts";
import { Endpoints, type FollowedUrls } from "./endpoints.ts";
import { type EndpointSource, MergedSource } from "./merged-source.ts";

/** Informer of one endpoint. It is disposed when the endpoint is removed. */
export type EndpointInformer<T extends KubeObject> = Source<T> & Partial<AsyncDisposable> & Partial<Disposable>;

/** Factories that create the informer of each kind for an endpoint. */
export type InformerFactories = Readonly<Record<string, (endpoint: Endpoint) => EndpointInformer<KubeObject>>>;

/** Merged sources of all endpoints, one for each kind. */
export type EndpointSources<F extends InformerFactories> = {
  readonly [K in keyof F]: EndpointSource<F[K] extends (endpoint: Endpoint) => Source<infer T> ? T : never>;
};

/** Options of {@link endpointInformers}. */
export interface EndpointInformersOptions<T extends object, F extends InformerFactories> extends FollowedUrls<T> {
  /**
   * Informer factories by a name of your choice: `{ todos: ({ client }) => new Informer({ resource: client.resource(Todo)
   * }).start() }`. An Informer recovers from failures by itself. If the `synced` promise of a source rejects, its whole
   * endpoint restarts.
   */
  readonly informers: F;
  /**
   * Time to keep the objects of a removed endpoint while another listed endpoint that may also show them is not ready, in ms.
   * @default 60,000
   */
  readonly handOver?: number;
}

/**
 * Informers of all endpoints, and their merged sources. Created by {@link endpointInformers}.
 *
 * @typeParam F informer factories, by name
 */
export class EndpointInformers<T extends object, F extends InformerFactories> implements AsyncDisposable {
  readonly endpoints: Endpoints<T>;
  /** Sources for controllers: the objects behind all endpoints, by cluster, namespace and name. */
  readonly sources: EndpointSources<F>;
  readonly #factories: F;
  readonly #merged: ReadonlyMap<string, MergedSource<KubeObject>>;
  readonly #handOver: HandOver;

  /** @internal Created by {@link endpointInformers}. */
  constructor({ informers, handOver: patience = 60_000, ...options }: EndpointInformersOptions<T, F>) {
    const { clock = systemClock } = options;
    this.#factories = informers;
    this.#handOver = new HandOver({ clock, patience, release: (endpoint) => this.#release(endpoint) });
    this.endpoints = new Endpoints({ ...options, start: (endpoint) => this.#start(endpoint) });
    this.endpoints.watch(() => {
      if (this.endpoints.isClosed) this.#handOver[Symbol.dispose]();
      else this.#handOver.look();
    });
    const { synced } = this.endpoints;
    this.#merged = new Map(Object.keys(informers).map((name) => [name, new MergedSource(synced)]));
    this.sources = Object.fromEntries(this.#merged) as unknown as EndpointSources<F>;
  }

  /** Resolves when all endpoints are synced. Rejects if this closes before that. */
  get synced(): Promise<void> {
    return this.endpoints.synced;
  }

  /** Stops all informers and the watch of the list. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.endpoints[Symbol.asyncDispose]();
    this.#handOver[Symbol.dispose]();
  }

  async #start(endpoint: Endpoint): Promise<EndpointRun> {
    const attached = new DisposableStack();
    // At once, so that no event arrives after the endpoint is removed.
    endpoint.signal.addEventListener("abort", () => this.#leave(endpoint, attached), { once: true });
    await using informers = new AsyncDisposableStack();
    const synced: Promise<void>[] = [];
    for (const [name, source] of this.#merged) {
      const informer = this.#factories[name]?.(endpoint);
      if (informer === undefined) continue;
      informers.defer(async () => {
        await (informer[Symbol.asyncDispose]?.() ?? informer[Symbol.dispose]?.());
      });
      informer.synced.catch(() => undefined); // `synced` of the whole reports it, unless another informer cannot be created
      attached.use(source.attach(endpoint, informer));
      synced.push(informer.synced);
    }
    const all = informers.move();
    return { synced: Promise.all(synced), [Symbol.asyncDispose]: () => all.disposeAsync() };
  }

  #leave(endpoint: Endpoint, attached: DisposableStack): void {
    attached.dispose();
    if (this.endpoints.isClosed) return;
    for (const source of this.#merged.values()) source.retire(endpoint);
    this.#handOver.begin(
      endpoint,
      this.endpoints.running.filter(({ status }) => status.ready !== "True"),
    );
  }

  #release(endpoint: Endpoint): void {
    if (this.endpoints.isClosed) return;
    for (const source of this.#merged.values()) source.release(endpoint);
  }
}

/**
 * Runs informers at each endpoint that an object lists, and merges them into one source per kind. Shards may join and leave
 * while a controller runs.
 *
 * @typeParam F informer factories, by name
 */
export function endpointInformers<T extends object, const F extends InformerFactories>(
  options: EndpointInformersOptions<T, F>,
): EndpointInformers<T, F> {
  return new EndpointInformers(options);
}

interface HandOverOptions {
  readonly clock: Clock;
  /** Maximum wait, in ms. */
  readonly patience: number;
  readonly release: (endpoint: Endpoint) => void;
}

interface Waiting {
  readonly endpoint: Endpoint;
  /** Endpoints that may also show the removed endpoint's objects, and are not ready yet. */
  readonly heirs: Set<RunningEndpoint>;
  readonly timer: Disposable;
}

/**
 * Keeps the objects of a removed endpoint while another endpoint that existed by then may still show them. A workspace that
 * moves to another shard leaves one list when it appears in the other.
 */
class HandOver implements Disposable {
  readonly #options: HandOverOptions;
  readonly #waiting = new Set<Waiting>();

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Releases a removed endpoint once the heirs are ready or removed, or the time is up. */
  begin(endpoint: Endpoint, heirs: readonly RunningEndpoint[]): void {
    const { clock, patience } = this.#options;
    const waiting: Waiting = {
      endpoint,
      heirs: new Set(heirs),
      timer: clock.after(patience, () => this.#release(waiting)),
    };
    this.#waiting.add(waiting);
    this.look();
  }

  /** Checks the heirs. Must be called after each status change of an endpoint. */
  look(): void {
    for (const waiting of [...this.#waiting]) {
      for (const heir of waiting.heirs)
        if (heir.status.ready === "True" || heir.status.reason === "Stopping") waiting.heirs.delete(heir);
      if (waiting.heirs.size === 0) this.#release(waiting);
    }
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting) timer[Symbol.dispose]();
    this.#waiting.clear();
  }

  #release(waiting: Waiting): void {
    waiting.timer[Symbol.dispose]();
    if (this.#waiting.delete(waiting)) this.#options.release(waiting.endpoint);
  }
}
