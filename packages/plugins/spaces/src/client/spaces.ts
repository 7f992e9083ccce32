import { AsyncLocalStorage } from "node:async_hooks";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import type { Client, Clock } from "@virtual-workspaces/client";
import { onAbort } from "@virtual-workspaces/transport";
import { type AccessScope, DEFAULT_PROVIDER, namespaceOf } from "../kinds/names.ts";
import type { Space } from "../kinds/space.ts";
import type { EngagedSpace, Engagement, ReachOptions, Rewrite } from "./engaged-space.ts";
import { Engagements, type SpaceEngager } from "./engagements.ts";
import { type ListTarget, listAcross, type SpaceList, type SpaceListOptions } from "./list.ts";
import { Slots } from "./slots.ts";
import { type SpaceState, unusableError } from "./space-access.ts";
import { type SpaceInformerFactories, SpaceInformers, type SpaceInformersOptions } from "./space-informers.ts";
import { fullName, type SpaceName } from "./space-name.ts";
import { watchAcross } from "./watch.ts";
import type { SpaceEvent, SpaceWatchOptions } from "./watch-events.ts";

/** Error of a Space or of the watches, which are retried. */
export interface SpaceFailure {
  readonly error: unknown;
  /** Absent if the Spaces or their Secrets cannot be read. */
  readonly space?: SpaceName;
}

/** Options of {@link followSpaces}. */
export interface FollowSpacesOptions {
  /** Client of the management cluster, which needs list and watch access to Spaces and Secrets. Nothing is written. */
  readonly client: Client;
  /** Network of this process, which selects the access Secret. @default "external" */
  readonly scope?: AccessScope;
  /** Namespace of the Spaces and Secrets; no access to others is needed. @default all */
  readonly namespace?: string;
  /** Label selector of the Spaces, as for `kubectl -l`. @default all */
  readonly labels?: string;
  /**
   * Returns the URL to connect to; an exception rejects the Space. Security: without it, users who can create an imported Space make this
   * process connect to any server with a credential of theirs.
   * @default the URL itself
   */
  readonly rewrite?: Rewrite;
  /**
   * Dialer for connections to a Space. Security: a dialer that checks resolved addresses prevents users who can create imported Spaces from
   * reaching this process's own network.
   * @default that of this machine
   */
  readonly dial?: ReachOptions["dial"];
  /** Called with each error, except for a Space that is not Ready. */
  readonly onError: (failure: SpaceFailure) => void;
  /** Closes everything on abort. */
  readonly signal?: AbortSignal;
  /** @default the system clock */
  readonly clock?: Clock;
}

/** A Space object and its connection. */
export interface KnownSpace {
  readonly space: Space;
  readonly state: SpaceState;
  /** Last connection, even if the Space is not Ready at the moment. */
  readonly engaged: Engagement | undefined;
}

/** Spaces by name, from any provider. Created by {@link followSpaces}. */
export class Spaces implements AsyncDisposable {
  /** Resolves when the Spaces and their Secrets have been read; rejects if it is closed before. */
  readonly synced: Promise<void>;
  readonly #options: FollowSpacesOptions;
  readonly #engagements: Engagements;
  readonly #made = new WeakMap<EngagedSpace, Map<unknown, unknown>>();
  readonly #picked = new AsyncLocalStorage<SpaceName>();
  readonly #slots: Slots;
  readonly #end: () => void;

  /** @internal Created by {@link followSpaces}. */
  constructor(options: FollowSpacesOptions) {
    const { client, scope = "external", namespace, labels, signal, onError } = options;
    const { rewrite = (url) => url, dial = () => undefined } = options;
    this.#options = options;
    this.#slots = new Slots(options.clock);
    this.#engagements = new Engagements({ client, scope, namespace, labels, rewrite, dial, onError });
    this.#end = () => void this[Symbol.asyncDispose]();
    signal?.addEventListener("abort", this.#end, { once: true });
    this.synced = this.#engagements.synced;
    this.synced.catch(() => undefined); // Callers that do not wait need no error.
    if (signal?.aborted === true) this.#end();
  }

  /** State of each Space, sorted by name. */
  get states(): SpaceState[] {
    return this.#engagements.names.sort().flatMap((name) => this.#engagements.stateOf(name) ?? []);
  }

  /** Usable Spaces, sorted by name. */
  get engaged(): EngagedSpace[] {
    const usable = this.#engagements.all.filter(({ name }) => this.#engagements.stateOf(name)?.ready === true);
    return usable.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Returns a usable Space.
   *
   * @param name `<namespace>/<name>`, or a name in the watched namespace (by default that of the provider `default`)
   * @throws ApiError 404 if it does not exist, 503 if it is not available, 400 on an invalid name
   */
  space(name: string): EngagedSpace {
    const { namespace = namespaceOf(DEFAULT_PROVIDER) } = this.#options;
    const whole = fullName(name, namespace);
    const state = this.#engagements.stateOf(whole);
    const engaged = this.#engagements.get(whole);
    if (engaged === undefined || state?.ready !== true) throw unusableError(whole, state);
    return engaged;
  }

  /** Returns the client of a Space, which survives credential rotation. Do not close it. @throws ApiError as {@link space} */
  client(name: string): Client {
    return this.space(name).client;
  }

  /**
   * Returns a value that depends on a Space: `spaces.of("shop", ({ config }) => new MyClient(config))`. The value is cached for each Space
   * and function until the Space or its credentials change, so call this at each use.
   *
   * @throws ApiError as {@link space}; errors of `make`
   */
  of<R>(name: string, make: (space: EngagedSpace) => R): R {
    const space = this.space(name);
    const made = this.#made.get(space) ?? new Map<unknown, unknown>();
    this.#made.set(space, made);
    if (!made.has(make)) made.set(make, make(space));
    return made.get(make) as R;
  }

  /** Waits until a Space is usable and returns it. @throws ApiError 400 on an invalid name; the signal's reason */
  async when(name: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<EngagedSpace> {
    const whole = fullName(name, this.#options.namespace ?? namespaceOf(DEFAULT_PROVIDER));
    for (;;) {
      signal?.throwIfAborted();
      if (this.#engagements.isClosed) throw new Error(`space ${whole}: the Spaces are closed`);
      const state = this.#engagements.stateOf(whole);
      const engaged = this.#engagements.get(whole);
      if (engaged !== undefined && state?.ready === true) return engaged;
      await this.#change(signal);
    }
  }

  /** Calls a listener after each change of a Space, until it is disposed of. */
  onChange(look: () => void): Disposable {
    return this.#engagements.onChange(look);
  }

  /**
   * Creates informers in each Space, and a source across Spaces for each kind, for controllers over a changing set of Spaces. The cluster
   * of a key is the Space's name, so controllers process one Space after another.
   *
   * @typeParam F functions that return the informers, by name
   */
  informers<const F extends SpaceInformerFactories>(options: SpaceInformersOptions<F>): SpaceInformers<F> {
    const informers = new SpaceInformers<F>({
      ...options,
      synced: this.synced,
      failed: (space, error) => this.#engagements.failed(space, error),
      closed: () => engaged[Symbol.dispose](),
    });
    const engaged = this.#engagements.engage(informers);
    return informers;
  }

  /** @internal */
  known(name: SpaceName): KnownSpace | undefined {
    const [space, state] = [this.#engagements.space(name), this.#engagements.stateOf(name)];
    if (space === undefined || state === undefined) return undefined;
    return { space, state, engaged: this.#engagements.get(name) };
  }

  /** @internal Calls a consumer for each current and future Space, until it is disposed of. */
  join(engager: SpaceEngager): Disposable {
    const engaged = this.#engagements.engage(engager);
    for (const name of this.#engagements.names) engager.changed?.(name);
    return engaged;
  }

  /**
   * Lists the objects of a kind in all Spaces, and names the Spaces that could not be read. It reads up to 16 Spaces at a time; with
   * `limit` it returns a page.
   *
   * Memory: the whole result.
   * @throws ApiError 400 on an invalid limit or `continue`, 410 on a `continue` of another list
   */
  list<T extends object>(kind: KindReference<T>, options: SpaceListOptions = {}): Promise<SpaceList<T>> {
    const spaces = this.states.map((state): ListTarget => {
      const engaged = state.ready ? this.#engagements.get(state.name) : undefined;
      return engaged ?? { space: state.name, error: unusableError(state.name, state) };
    });
    return listAcross(kind, options, { spaces, slots: this.#slots });
  }

  /** Lists page after page, as {@link list}. @param options `limit` is that of a page; @default 500 */
  async *pages<T extends object>(
    kind: KindReference<T>,
    { limit = 500, ...options }: SpaceListOptions = {},
  ): AsyncGenerator<SpaceList<T>, void, undefined> {
    for (let page = await this.list(kind, { ...options, limit }); ; ) {
      yield page;
      if (page.continue === undefined) return;
      page = await this.list(kind, { ...options, limit, continue: page.continue });
    }
  }

  /**
   * Watches the objects of a kind in all Spaces. The initial objects come first, unless a cursor gives the start. Spaces may be added,
   * removed, unreachable and reachable again without effect on others; `RESET` and `LEFT` invalidate earlier events of a Space. Errors are
   * reported to `onError`. The watch ends when the loop ends, the Spaces are closed or the signal aborts; it throws the signal's reason.
   *
   * A slow reader slows the servers down: at most one event for each Space is buffered, and the initial objects of 16 Spaces. Spaces with
   * events are served in turn.
   *
   * @throws ApiError 400 on an invalid cursor, 410 on a damaged cursor or one of another selection: start without one
   */
  watch<T extends object>(
    kind: KindReference<T>,
    options: SpaceWatchOptions = {},
  ): AsyncGenerator<SpaceEvent<T>, void, undefined> {
    return watchAcross(kind, options, {
      synced: this.synced,
      isThere: (space) => this.#engagements.isThere(space),
      slot: (signal) => this.#slots.take(signal),
      failed: (space, error) => this.#engagements.failed(space, error),
      onChange: (look) => this.onChange(look),
      engage: (engager) => this.#engagements.engage(engager),
    });
  }

  /**
   * Runs a function in which {@link current} is a Space, and with it the KubeConfig of `@virtual-workspaces/spaces/client-node`.
   *
   * @throws ApiError as {@link space}; errors of `run`
   */
  within<R>(name: string, run: () => R): R {
    return this.#picked.run(this.space(name).name, run);
  }

  /** Space of {@link within}; `undefined` outside. */
  get current(): SpaceName | undefined {
    return this.#picked.getStore();
  }

  /** Closes everything that this object created, with the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#end);
    await this.#engagements[Symbol.asyncDispose]();
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _changed = this.onChange(resolve);
    using _ended = onAbort(signal, resolve);
    await promise;
  }
}

/**
 * Watches Spaces and their access Secrets, and offers clients by name, informers and lists across them. It never calls a provider.
 * Security: its user can do in each Space what the Secret allows.
 *
 * @example
 * ```ts
 * import { Client } from "@virtual-workspaces/client";
 * import { followSpaces } from "@virtual-workspaces/spaces";
 *
 * await using client = await Client.fromKubeconfig();
 * await using spaces = followSpaces({ client, onError: ({ error }) => console.error(String(error)) });
 * ```
 * @see docs/how-to/spaces.md
 * @see docs/how-to/across-spaces.md
 */
export function followSpaces(options: FollowSpacesOptions): Spaces {
  return new Spaces(options);
}
