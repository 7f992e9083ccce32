import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { systemClock } from "@virtual-workspaces/transport";
import type { Source } from "../controller/source.ts";
import type { Endpoint, EndpointRun } from "./endpoint.ts";
import { Endpoints, type FollowedUrls } from "./endpoints.ts";
import { HandOver } from "./hand-over.ts";
import { type EndpointSource, MergedSource } from "./merged-source.ts";

/** An informer of one endpoint: it is disposed of when the endpoint goes. */
export type EndpointInformer<T extends KubeObject> = Source<T> & Partial<AsyncDisposable> & Partial<Disposable>;

/** What makes the informer of each kind, for an endpoint. */
export type InformerFactories = Readonly<Record<string, (endpoint: Endpoint) => EndpointInformer<KubeObject>>>;

/** For each kind the one source over all endpoints. */
export type EndpointSources<F extends InformerFactories> = {
  readonly [K in keyof F]: EndpointSource<F[K] extends (endpoint: Endpoint) => Source<infer T> ? T : never>;
};

/** What {@link endpointInformers} is given. */
export interface EndpointInformersOptions<T extends object, F extends InformerFactories> extends FollowedUrls<T> {
  /**
   * By a name of one's own: `{ todos: ({ client }) => new Informer({ resource: client.resource(Todo) }).start() }`. An
   * Informer goes on by itself when it fails; sources whose `synced` rejects are made anew, all of the endpoint.
   */
  readonly informers: F;
  /**
   * How long what an endpoint showed that goes is kept, while another one that is listed is not ready and may show it too,
   * ms. @default 60,000
   */
  readonly handOver?: number;
}

/**
 * Informers at all endpoints, and what they show as one. Made by {@link endpointInformers}.
 *
 * @typeParam F what makes the informers, by name
 */
export class EndpointInformers<T extends object, F extends InformerFactories> implements AsyncDisposable {
  readonly endpoints: Endpoints<T>;
  /** What controllers are given: an object behind any endpoint, by cluster, namespace and name. */
  readonly sources: EndpointSources<F>;
  readonly #factories: F;
  readonly #merged: ReadonlyMap<string, MergedSource<KubeObject>>;
  readonly #handOver: HandOver;

  /** @internal Made by {@link endpointInformers}. */
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

  /** Resolves when all endpoints are; rejects when it is closed before. */
  get synced(): Promise<void> {
    return this.endpoints.synced;
  }

  /** Ends all informers, and what follows the list. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.endpoints[Symbol.asyncDispose]();
    this.#handOver[Symbol.dispose]();
  }

  async #start(endpoint: Endpoint): Promise<EndpointRun> {
    const attached = new DisposableStack();
    // As soon as the endpoint is not listed any more: what comes after that is not told.
    endpoint.signal.addEventListener("abort", () => this.#leave(endpoint, attached), { once: true });
    await using informers = new AsyncDisposableStack();
    const synced: Promise<void>[] = [];
    for (const [name, source] of this.#merged) {
      const informer = this.#factories[name]?.(endpoint);
      if (informer === undefined) continue;
      informers.defer(async () => {
        await (informer[Symbol.asyncDispose]?.() ?? informer[Symbol.dispose]?.());
      });
      informer.synced.catch(() => undefined); // told by what is made of all of them, unless another one cannot be made
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
 * Informers of some kinds at each endpoint that an object lists, with one source of each kind over all of them, for
 * controllers: shards come and go under a controller that runs.
 *
 * @typeParam F what makes the informers, by name
 */
export function endpointInformers<T extends object, const F extends InformerFactories>(
  options: EndpointInformersOptions<T, F>,
): EndpointInformers<T, F> {
  return new EndpointInformers(options);
}
