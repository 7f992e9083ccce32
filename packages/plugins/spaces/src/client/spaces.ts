import { AsyncLocalStorage } from "node:async_hooks";
import type { KubeConfig } from "@kubernetes/client-node";
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

/** Something that went wrong with a Space, or with following them, and is tried again. */
export interface SpaceFailure {
  readonly error: unknown;
  /** None where Spaces, or their Secrets, cannot be read. */
  readonly space?: SpaceName;
}

/** Which Spaces are followed, and how they are reached: {@link followSpaces}. */
export interface FollowSpacesOptions {
  /** The management cluster. Spaces and Secrets are read there, and followed; nothing is written. */
  readonly client: Client;
  /** From where they are reached: which of their Secrets counts. @default "external" */
  readonly scope?: AccessScope;
  /** Spaces, and Secrets, of this namespace alone: whoever follows them need not read others. @default all */
  readonly namespace?: string;
  /** Which Spaces, as `kubectl -l` has it. @default all */
  readonly labels?: string;
  /**
   * Where a URL is reached from here. What throws refuses it: whoever can make an imported Space has this process connect to a server of
   * theirs (by a credential of theirs) unless this has a say.
   * @default everything is reached where it says
   */
  readonly rewrite?: Rewrite;
  /**
   * By what connections to a Space are made: one that looks at the addresses which a name resolves to keeps whoever can make imported Spaces
   * from having this process ask its own network. @default as the machine does
   */
  readonly dial?: ReachOptions["dial"];
  /** Told of every failure; of a Space that says itself that it is not Ready, there is none to tell. */
  readonly onError: (failure: SpaceFailure) => void;
  /** Ends everything. */
  readonly signal?: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
}

/** What is known of a Space. */
export interface KnownSpace {
  readonly space: Space;
  readonly state: SpaceState;
  /** What it was reached by last, though it may not be Ready now. */
  readonly engaged: Engagement | undefined;
}

/** Spaces by name, whoever provides them. Made by {@link followSpaces}. */
export class Spaces implements AsyncDisposable {
  /** Resolves when the Spaces and their Secrets have been read; rejects when it is closed before. */
  readonly synced: Promise<void>;
  readonly #options: FollowSpacesOptions;
  readonly #engagements: Engagements;
  readonly #made = new WeakMap<EngagedSpace, Map<unknown, unknown>>();
  readonly #picked = new AsyncLocalStorage<SpaceName>();
  readonly #slots: Slots;
  readonly #end: () => void;

  /** @internal Made by {@link followSpaces}. */
  constructor(options: FollowSpacesOptions) {
    const { client, scope = "external", namespace, labels, signal, onError } = options;
    const { rewrite = (url) => url, dial = () => undefined } = options;
    this.#options = options;
    this.#slots = new Slots(options.clock);
    this.#engagements = new Engagements({ client, scope, namespace, labels, rewrite, dial, onError });
    this.#end = () => void this[Symbol.asyncDispose]();
    signal?.addEventListener("abort", this.#end, { once: true });
    this.synced = this.#engagements.synced;
    this.synced.catch(() => undefined); // who does not wait for it need not know
    if (signal?.aborted === true) this.#end();
  }

  /** How each Space is, in order of their names. */
  get states(): SpaceState[] {
    return this.#engagements.names.sort().flatMap((name) => this.#engagements.stateOf(name) ?? []);
  }

  /** Those that can be used now, in order of their names. */
  get engaged(): EngagedSpace[] {
    const usable = this.#engagements.all.filter(({ name }) => this.#engagements.stateOf(name)?.ready === true);
    return usable.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * A Space that can be used.
   *
   * @param name `<namespace>/<name>`; a name alone is of the namespace that is followed, else of provider `default`
   * @throws ApiError 404 if there is none, 503 if it cannot be used now, 400 on what is no name
   */
  space(name: string): EngagedSpace {
    const { namespace = namespaceOf(DEFAULT_PROVIDER) } = this.#options;
    const whole = fullName(name, namespace);
    const state = this.#engagements.stateOf(whole);
    const engaged = this.#engagements.get(whole);
    if (engaged === undefined || state?.ready !== true) throw unusableError(whole, state);
    return engaged;
  }

  /** A client of a Space, which goes on when its credentials are rotated. Not to be closed. @throws ApiError as {@link space} */
  client(name: string): Client {
    return this.space(name).client;
  }

  /**
   * Whatever is made of a Space: `spaces.of("shop", ({ config }) => new MyClient(config))`. Made once for each Space and function, and again
   * when something of the Space changes, such as its credentials: ask for it at each use.
   *
   * @throws ApiError as {@link space}, and what `make` throws
   */
  of<R>(name: string, make: (space: EngagedSpace) => R): R {
    const space = this.space(name);
    const made = this.#made.get(space) ?? new Map<unknown, unknown>();
    this.#made.set(space, made);
    if (!made.has(make)) made.set(make, make(space));
    return made.get(make) as R;
  }

  /** As {@link space}, once it can be used. @throws ApiError 400 on what is no name; the signal's reason */
  async when(name: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<EngagedSpace> {
    const whole = fullName(name, this.#options.namespace ?? namespaceOf(DEFAULT_PROVIDER));
    for (;;) {
      signal?.throwIfAborted();
      if (this.#engagements.isClosed) throw new Error(`space ${whole}: Spaces are not followed any more`);
      const state = this.#engagements.stateOf(whole);
      const engaged = this.#engagements.get(whole);
      if (engaged !== undefined && state?.ready === true) return engaged;
      await this.#change(signal);
    }
  }

  /** Calls back after each change of a Space, until it is disposed of. */
  onChange(look: () => void): Disposable {
    return this.#engagements.onChange(look);
  }

  /**
   * Informers in each Space, and what they show as one source of each kind: for controllers across Spaces that come and go. Keys have the
   * Space's name as their cluster, so that controllers serve one Space after the other.
   *
   * @typeParam F what makes the informers, by name
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

  /** @internal Runs for each Space, those that are there first, until it is disposed of. */
  join(engager: SpaceEngager): Disposable {
    const engaged = this.#engagements.engage(engager);
    for (const name of this.#engagements.names) engager.changed?.(name);
    return engaged;
  }

  /**
   * The objects of a kind in all Spaces, each with its Space; those that could not be read are named besides. Sixteen Spaces are read at a time.
   * With `limit` it is a page, in which those that fit are read.
   *
   * Memory: the answer. @throws ApiError 400 on a limit or a `continue` that is none, 410 on a `continue` of another list
   */
  list<T extends object>(kind: KindReference<T>, options: SpaceListOptions = {}): Promise<SpaceList<T>> {
    const spaces = this.states.map((state): ListTarget => {
      const engaged = state.ready ? this.#engagements.get(state.name) : undefined;
      return engaged ?? { space: state.name, error: unusableError(state.name, state) };
    });
    return listAcross(kind, options, { spaces, slots: this.#slots });
  }

  /** As {@link list}, page after page. @param options `limit` is of a page; @default 500 */
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
   * What happens in all Spaces, as it does, each with its Space; what is there first, unless a cursor says where to go on. Spaces may come, go, be away and
   * come back meanwhile: none disturbs another, and whatever cannot be told truthfully is said to be void (`RESET`, `LEFT`). Failures are told by `onError`.
   * It goes on until the signal aborts, whose reason is thrown, the loop is left, or Spaces are not followed any more.
   *
   * Who reads slowly holds back the servers: an event of each Space waits here, and the objects of sixteen Spaces that are being told for the
   * first time. Whose events wait are served in turn.
   *
   * @throws ApiError 400 on what is no cursor, 410 on one that is damaged or of something else: begin without one
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

  /** Runs something in which {@link kubeConfig} is of a Space. @throws ApiError as {@link space}, what it throws */
  within<R>(name: string, run: () => R): R {
    return this.#picked.run(this.space(name).name, run);
  }

  /**
   * A KubeConfig of `@kubernetes/client-node` that picks the Space per request, by what it is asked {@link within}: clients that are made of it, once, work
   * across Spaces, and have their credentials of the moment.
   */
  async kubeConfig(): Promise<KubeConfig> {
    const { pickingKubeConfig } = await import("./kube-config.ts");
    return pickingKubeConfig({
      picked: () => this.#picked.getStore(),
      of: (name, make) => this.of(name, make),
    });
  }

  /** Ends all that was made here, and its connections. */
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
 * Follows Spaces and the Secrets that lead to them: gives clients of them by name, informers and lists across them. No provider is asked, ever. Whoever
 * follows them can do in each Space what its Secret allows.
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
