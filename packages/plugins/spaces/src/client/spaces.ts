import { AsyncLocalStorage } from "node:async_hooks";
import type { KubeConfig } from "@kubernetes/client-node";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import type { Client, Clock } from "@virtual-workspaces/client";
import { type AccessScope, DEFAULT_PROVIDER, namespaceOf } from "../kinds/names.ts";
import type { Space } from "../kinds/space.ts";
import { type EngagedSpace, Engagement, type Reach, type Rewrite, type Usable } from "./engaged-space.ts";
import { FollowedAccess } from "./followed-access.ts";
import { type Listed, listAcross, type SpaceList, type SpaceListOptions } from "./list.ts";
import { Looks } from "./looks.ts";
import { Slots } from "./slots.ts";
import { type SpaceInformerFactories, SpaceInformers, type SpaceInformersOptions } from "./space-informers.ts";
import { type SpaceName, wholeName } from "./space-name.ts";
import { type SpaceState, unusableError } from "./space-state.ts";
import type { SpaceEvent, SpaceWatchOptions } from "./watch/events.ts";
import { watchAcross } from "./watch/watch.ts";

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
  readonly dial?: Reach["dial"];
  /** Told of every failure; of a Space that says itself that it is not Ready, there is none to tell. */
  readonly onError: (failure: SpaceFailure) => void;
  /** Ends everything. */
  readonly signal?: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
}

/** What runs for each Space that can be used. */
export interface SpaceEngager extends AsyncDisposable {
  /** One can be used; or is reached elsewhere now, and how it was reached before is of no more use once this resolves. */
  engage(space: Engagement): Promise<void>;
  /** It is no more: deleted, or only not to be seen any more. Its connections are closed once this resolves. */
  disengage(space: Engagement, how: "deleted" | "gone"): Promise<void>;
  /** Something of a Space has changed, whether or not it can be used. @default that is of no interest */
  changed?(name: SpaceName): void;
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
  readonly #access: FollowedAccess;
  readonly #engaged = new Map<SpaceName, Engagement>();
  /** Why what can be used is not, by name. */
  readonly #refused = new Map<SpaceName, string>();
  readonly #engagers = new Set<SpaceEngager>();
  readonly #watchers = new Set<() => void>();
  readonly #ending = new Set<Promise<void>>();
  readonly #made = new WeakMap<EngagedSpace, Map<unknown, unknown>>();
  readonly #picked = new AsyncLocalStorage<SpaceName>();
  readonly #slots: Slots;
  readonly #looks = new Looks((name) => this.#look(name));
  readonly #end: () => void;
  #closed: Promise<void> | undefined;

  /** @internal Made by {@link followSpaces}. */
  constructor(options: FollowSpacesOptions) {
    const { client, scope = "external", namespace, labels, signal } = options;
    this.#options = options;
    this.#slots = new Slots(options.clock);
    this.#access = new FollowedAccess({
      ...{ client, scope, namespace, labels },
      changed: (name) => this.#looks.add(name),
      failed: (error) => options.onError({ error }),
    });
    this.#end = () => void this[Symbol.asyncDispose]();
    signal?.addEventListener("abort", this.#end, { once: true });
    this.synced = this.#access.start().then(() => this.#looks.done);
    this.synced.catch(() => undefined); // who does not wait for it need not know
    if (signal?.aborted === true) this.#end();
  }

  /** How each Space is, in order of their names. */
  get states(): SpaceState[] {
    return this.#access.names.sort().flatMap((name) => this.#stateOf(name) ?? []);
  }

  /** Those that can be used now, in order of their names. */
  get engaged(): EngagedSpace[] {
    this.#looks.seeAll();
    const usable = [...this.#engaged.values()].filter(({ name }) => this.#stateOf(name)?.ready === true);
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
    const whole = wholeName(name, namespace);
    const state = this.#stateOf(whole);
    const engaged = this.#engaged.get(whole);
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
    const whole = wholeName(name, this.#options.namespace ?? namespaceOf(DEFAULT_PROVIDER));
    for (;;) {
      signal?.throwIfAborted();
      if (this.#closed !== undefined) throw new Error(`space ${whole}: Spaces are not followed any more`);
      const state = this.#stateOf(whole);
      const engaged = this.#engaged.get(whole);
      if (engaged !== undefined && state?.ready === true) return engaged;
      await this.#change(signal);
    }
  }

  /** Calls back after each change of a Space, until it is disposed of. */
  onChange(look: () => void): Disposable {
    const watcher = (): void => look();
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
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
      failed: (space, error) => this.#failed(space, error),
      closed: () => void this.#engagers.delete(informers),
    });
    this.#engage(informers);
    return informers;
  }

  /** @internal */
  known(name: SpaceName): KnownSpace | undefined {
    const [space, state] = [this.#access.space(name), this.#stateOf(name)];
    if (space === undefined || state === undefined) return undefined;
    return { space, state, engaged: this.#engaged.get(name) };
  }

  /** @internal Runs for each Space, those that are there first, until it is disposed of. */
  join(engager: SpaceEngager): Disposable {
    const engaged = this.#engage(engager);
    for (const name of this.#access.names) engager.changed?.(name);
    return engaged;
  }

  /**
   * The objects of a kind in all Spaces, each with its Space; those that could not be read are named besides. Sixteen Spaces are read at a time.
   * With `limit` it is a page, in which those that fit are read.
   *
   * Memory: the answer. @throws ApiError 400 on a limit or a `continue` that is none, 410 on a `continue` of another list
   */
  list<T extends object>(kind: KindReference<T>, options: SpaceListOptions = {}): Promise<SpaceList<T>> {
    const spaces = this.states.map((state): Listed => {
      const engaged = state.ready ? this.#engaged.get(state.name) : undefined;
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
      isThere: (space) => this.#access.of(space) !== undefined,
      slot: (signal) => this.#slots.take(signal),
      failed: (space, error) => this.#failed(space, error),
      onChange: (look) => this.onChange(look),
      engage: (engager) => this.#engage(engager),
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
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #engage(engager: SpaceEngager): Disposable {
    this.#engagers.add(engager);
    for (const space of this.#engaged.values()) void engager.engage(space);
    if (this.#closed !== undefined) void engager[Symbol.asyncDispose]();
    return { [Symbol.dispose]: () => void this.#engagers.delete(engager) };
  }

  /** Of one that says itself that it is not Ready there is nothing to tell. */
  #failed(space: SpaceName, error: unknown): void {
    if (this.#stateOf(space)?.ready === true) this.#options.onError({ space, error });
  }

  #look(name: SpaceName): void {
    if (this.#closed !== undefined) return;
    const access = this.#access.of(name);
    const before = this.#engaged.get(name);
    this.#refused.delete(name);
    if (access === undefined) {
      if (before !== undefined) this.#disengage(before);
    } else if (access.usable) this.#use(access, before);
    // Else: what runs in it goes on. That it is not Ready does not mean that it is not there.
    for (const engager of [...this.#engagers]) engager.changed?.(name);
    for (const look of [...this.#watchers]) look();
  }

  #use(access: Usable, before: Engagement | undefined): void {
    const isSame = before?.id === access.id;
    if (isSame && before.digests.server === access.digests.server) {
      if (before.space !== access.space || before.digests.config !== access.digests.config)
        this.#engaged.set(before.name, before.renewed(access));
      return;
    }
    const next = this.#connected(access);
    if (before !== undefined && !isSame) this.#disengage(before);
    if (next === undefined) return;
    this.#engaged.set(next.name, next);
    const over = Promise.all([...this.#engagers].map((engager) => engager.engage(next)));
    if (isSame) this.#ends(over, before);
  }

  #connected(access: Usable): Engagement | undefined {
    const { rewrite = (url) => url, dial = () => undefined, onError } = this.#options;
    try {
      return new Engagement(access, { rewrite, dial });
    } catch (error) {
      const { namespace = "", name = "" } = access.space.metadata;
      const space = `${namespace}/${name}`;
      this.#refused.set(space, error instanceof Error ? error.message : String(error));
      onError({ space, error });
      return undefined;
    }
  }

  /** What was in a managed Space is deleted with it; of others nobody knows. */
  #disengage(space: Engagement): void {
    this.#engaged.delete(space.name);
    const how = isManaged(space.space) ? "deleted" : "gone";
    this.#ends(Promise.all([...this.#engagers].map((engager) => engager.disengage(space, how))), space);
  }

  #ends(used: Promise<unknown>, space: Engagement): void {
    const ending = used.then(() => space[Symbol.asyncDispose]()).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #stateOf(name: SpaceName): SpaceState | undefined {
    this.#looks.see(name);
    const access = this.#access.of(name);
    if (access === undefined) return undefined;
    if (!access.usable) return { name, ready: false, reason: access.reason, message: access.message };
    const refused = this.#refused.get(name);
    if (refused !== undefined) return { name, ready: false, reason: "Refused", message: refused };
    return { name, ready: true, reason: "Ready", message: "" };
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _ = this.onChange(resolve);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
  }

  async #close(): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#end);
    await Promise.all([...this.#engagers].map((engager) => engager[Symbol.asyncDispose]()));
    for (const look of [...this.#watchers]) look();
    await this.#access[Symbol.asyncDispose]();
    await Promise.all(this.#ending);
    await Promise.all([...this.#engaged.values()].map((space) => space[Symbol.asyncDispose]()));
  }
}

const isManaged = ({ spec }: Space): boolean => (spec.Type ?? "managed") === "managed";

/**
 * Follows Spaces and the Secrets that lead to them: gives clients of them by name, informers and lists across them. No provider is asked, ever. Whoever
 * follows them can do in each Space what its Secret allows.
 */
export function followSpaces(options: FollowSpacesOptions): Spaces {
  return new Spaces(options);
}
