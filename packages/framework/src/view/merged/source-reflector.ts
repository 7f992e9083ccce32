import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { askedAfterNow, Backoff, sleep } from "@virtual-workspaces/transport";
import type { CacheLease, Scope } from "../../storage.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import type { Encoded } from "../../watch/cache/encoded.ts";
import { cacheKey, keyOfText, objectsIn } from "../../watch/cache/watch-cache.ts";
import type { ViewSource } from "../view-options.ts";
import { Late, type MemberState, stateAfter } from "./merged-options.ts";
import type { TimeSlices } from "./time-slices.ts";

export interface SourceReflectorOptions {
  readonly name: string;
  readonly source: ViewSource;
  /** Logical cluster for the source's objects; `undefined` where the source has its own. */
  readonly cluster: string | undefined;
  /** Scope of the readers' requests. */
  readonly scope: Scope;
  /** As in `PlacedSource`. */
  readonly leftOut: (() => string | undefined) | undefined;
  readonly patience: number;
  /** Runs work that takes long. */
  readonly turns: TimeSlices;
  readonly onError: (error: unknown) => void;
  /** Called after every change of {@link SourceReflector.objects}, with the key of the object here. */
  readonly onChange: (key: string) => void;
}

/** Backoff for a failing source, in ms. */
const RETRY = { first: 100, most: 5_000 } as const;

/**
 * Follows one source for one stream. It keeps the known objects whatever happens to the source; it drops them when the source
 * deletes them or forbids reading.
 *
 * It neither lists nor watches: the source's cache does, mostly with a `ListAndWatch` of its own. It retries a failing source
 * with a backoff.
 */
export class SourceReflector {
  readonly name: string;
  /** Objects of the source as far as known, by their key here. They are shared with the source. */
  readonly objects: Map<string, Encoded> = new Map();
  /** Resolves when the first answer of the source was processed, or when it is late. */
  readonly begun: Promise<void>;
  readonly #options: SourceReflectorOptions;
  readonly #stop = new AbortController();
  #state: MemberState = { reason: "Connecting", message: "", since: new Date(), answers: true, denies: false };
  #lease: CacheLease | undefined;
  #listening: Disposable | undefined;
  #joining: Promise<void> | undefined;
  /** Pending while changes of the source are still being processed. */
  #comparing: Promise<unknown> | undefined;
  #mending = false;
  readonly #askNow = askedAfterNow(() => this.#ask());

  /** @param known objects to show until the source has answered: those of its predecessor */
  constructor(options: SourceReflectorOptions, known: ReadonlyMap<string, Encoded> = new Map()) {
    this.name = options.name;
    this.#options = options;
    for (const [text, object] of known) this.objects.set(text, object);
    this.begun = this.#begin();
  }

  get state(): MemberState {
    return this.#state;
  }

  /** Whether any state of the source is known. */
  get joined(): boolean {
    return this.#lease !== undefined || this.objects.size > 0;
  }

  /** Whether the source may have unknown objects: it was never read, and has not answered that there are none. */
  get isUnknown(): boolean {
    return !this.joined && !this.#state.denies;
  }

  /** Why answers may leave the source out; `undefined` if they need it. */
  get leftOut(): string | undefined {
    return this.#options.leftOut?.();
  }

  /** Whether an answer needs the objects of the source and does not have them. */
  get isMissing(): boolean {
    return this.isUnknown && this.leftOut === undefined;
  }

  /** Whether an answer need not wait for the source. */
  get isSkipped(): boolean {
    return !this.joined && this.leftOut !== undefined;
  }

  get isReadable(): boolean {
    return this.#state.reason === "Connected";
  }

  /**
   * Resolves when all is known that the source had at the time of the call, or when the source is late. Does not wait for an
   * unreachable source.
   * @throws the reason of `signal`
   */
  confirm(signal: AbortSignal): Awaitable<unknown> {
    const answered = this.#confirm(signal);
    return answered === undefined ? this.#comparing : answered.then(() => this.#comparing);
  }

  #confirm(signal: AbortSignal): Promise<void> | undefined {
    if (this.#state.reason === "Connecting") return this.begun;
    // The source answers, so retry now: a caller with new permission need not wait for the backoff.
    if (this.#state.reason === "Forbidden") return this.#askNow();
    if (this.#lease === undefined || !this.isReadable) return undefined;
    try {
      const pending = this.#lease.confirm({ signal });
      return pending instanceof Promise ? this.#await(pending, signal) : undefined;
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  /** Releases the source. Its objects stay in {@link objects}. */
  stop(): void {
    this.#stop.abort();
    this.#listening?.[Symbol.dispose]();
    this.#lease?.[Symbol.dispose]();
  }

  /** Whether to use the source's events: they are true even while it fails. Security: not while it forbids reading. */
  get #isTold(): boolean {
    return this.#state.reason !== "Forbidden";
  }

  async #await(pending: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await this.#inTime(pending);
    } catch (error) {
      // An aborted request says nothing about the source.
      signal.throwIfAborted();
      this.#failed(error);
    }
  }

  async #begin(): Promise<void> {
    let joining: Promise<void> | undefined;
    const join = (): void => {
      joining = this.#join();
      // May settle after all readers have stopped waiting.
      joining.catch(() => undefined);
    };
    await this.#options.turns.run(oneStep(join));
    try {
      await this.#inTime(joining as unknown as Promise<void>);
    } catch (error) {
      this.#failed(error);
    }
    await this.#comparing;
  }

  /** Joins the source; calls share one attempt. */
  #join(): Promise<void> {
    this.#joining ??= this.#open().finally(() => {
      this.#joining = undefined;
    });
    return this.#joining;
  }

  async #open(): Promise<void> {
    const { source, scope, cluster } = this.#options;
    const lease = await source.cache(cluster === undefined ? scope : { ...scope, cluster: "" });
    if (this.#stop.signal.aborted) return lease[Symbol.dispose]();
    this.#lease = lease;
    this.#listening = lease.cache.listen({
      event: ({ key, object }) => this.#isTold && this.#set(key, object),
      expired: () => this.#isTold && this.#compare(),
    });
    this.#connected();
  }

  #connected(): void {
    if (this.#stop.signal.aborted || this.isReadable) return;
    this.#state = { reason: "Connected", message: "", since: new Date(), answers: true, denies: false };
    this.#compare();
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#state = stateAfter(error, this.#state);
    this.#options.onError(error);
    if (this.#state.reason === "Forbidden") this.#forget();
    if (!this.#mending) void this.#mend();
  }

  /** Retries until the source answers. */
  async #mend(): Promise<void> {
    this.#mending = true;
    const { signal } = this.#stop;
    for (const backoff = new Backoff(RETRY); !signal.aborted && !this.isReadable; ) {
      await sleep(backoff.next(), { signal, ref: false });
      if (signal.aborted || this.isReadable) break;
      await this.#askNow();
    }
    this.#mending = false;
  }

  async #ask(): Promise<void> {
    try {
      await this.#attempt();
      this.#connected();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #attempt(): Promise<void> {
    if (this.#lease === undefined) return this.#inTime(this.#join());
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#options.patience)]);
    await this.#inTime(Promise.resolve(this.#lease.confirm({ signal })));
  }

  /** Fails when the source is late. Time in which this process was busy does not count, since answers could not be read. */
  async #inTime(pending: Promise<void>): Promise<void> {
    const { patience, turns } = this.#options;
    const { promise, reject } = Promise.withResolvers<never>();
    let spent = turns.spent;
    const check = (): void => {
      const left = turns.spent - spent;
      spent = turns.spent;
      if (left > 0) timer = setTimeout(check, left);
      else reject(new Late(patience));
    };
    let timer = setTimeout(check, patience);
    try {
      await Promise.race([pending, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Finds all differences from the source, whatever caused them. */
  #compare(): void {
    const work = this.#options.turns.run(this.#differences((this.#lease as CacheLease).cache));
    if (work === undefined) return;
    const all = Promise.all([this.#comparing, work.catch((error: unknown) => this.#options.onError(error))]);
    this.#comparing = all;
    void all.then(() => {
      if (this.#comparing === all) this.#comparing = undefined;
    });
  }

  /** Reads each object at its current state; {@link #set} receives the changes in between. */
  *#differences(cache: CacheLease["cache"]): Generator<undefined> {
    const { cluster, scope } = this.#options;
    const isOver = (): boolean => this.#stop.signal.aborted || !this.#isTold;
    const here = cluster === undefined && scope.cluster !== "*" ? scope.cluster : "";
    for (const { key } of objectsIn(cache.snapshot().objects, { cluster: here, namespace: "" })) {
      if (isOver()) return;
      this.#set(key, cache.get(key));
      yield;
    }
    for (const text of this.objects.keys()) {
      if (isOver()) return;
      const key = keyOfText(text);
      const there = cluster === undefined ? key : { ...key, cluster: "" };
      if (cacheKey(this.#placed(there)) !== text || cache.get(there) === undefined) this.#remove(text);
      yield;
    }
  }

  #forget(): void {
    for (const text of this.objects.keys()) this.#remove(text);
  }

  #remove(text: string): void {
    if (this.objects.delete(text)) this.#options.onChange(text);
  }

  #set(there: ObjectKey, object: Encoded | undefined): void {
    if (!this.#isWanted(there)) return;
    const text = cacheKey(this.#placed(there));
    const before = this.objects.get(text);
    if (object === undefined) this.#remove(text);
    else if (before === undefined || !isSame(before, object)) {
      this.objects.set(text, object);
      this.#options.onChange(text);
    }
  }

  #isWanted(there: ObjectKey): boolean {
    const { cluster, scope } = this.#options;
    if (cluster !== undefined) return there.cluster === "";
    return scope.cluster === "*" || scope.cluster === "" || there.cluster === scope.cluster;
  }

  #placed(key: ObjectKey): ObjectKey {
    const { cluster } = this.#options;
    return cluster === undefined ? key : { ...key, cluster };
  }
}

/** Another server, or one restored from a backup, may have given the same version to another object. */
function isSame(one: Encoded, other: Encoded): boolean {
  return one === other || (one.resourceVersion === other.resourceVersion && one.bytes.equals(other.bytes));
}

// biome-ignore lint/correctness/useYield: it is done in one
function* oneStep(step: () => void): Generator<undefined> {
  step();
}
