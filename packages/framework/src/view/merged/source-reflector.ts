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
  /** The logical cluster that the source's objects are in; `undefined` where they say so themselves. */
  readonly cluster: string | undefined;
  /** As the readers ask. */
  readonly scope: Scope;
  readonly patience: number;
  /** Where what takes long is done. */
  readonly turns: TimeSlices;
  readonly onError: (error: unknown) => void;
  /** Told of every change of {@link SourceReflector.objects}, already made, by the key that the object has here. */
  readonly onChange: (key: string) => void;
}

/** The backoff from a failing source, ms. */
const RETRY = { first: 100, most: 5_000 } as const;

/**
 * One source as one stream follows it. It keeps what is known of the source, through whatever befalls that; it forgets it
 * when the source says so, and when the source says that we may not read it.
 *
 * It lists and watches nothing itself: the source's cache does, mostly by a `ListAndWatch` of its own. A source that fails is asked again here, with a
 * backoff.
 */
export class SourceReflector {
  readonly name: string;
  /** What the source has as far as is known, by the key that it has here. References to what the source keeps. */
  readonly objects: Map<string, Encoded> = new Map();
  /** Resolves when the source has answered for the first time, and what it has is known, or when it is not going to in time. */
  readonly begun: Promise<void>;
  readonly #options: SourceReflectorOptions;
  readonly #stop = new AbortController();
  #state: MemberState = { reason: "Connecting", message: "", since: new Date(), answers: true, denies: false };
  #lease: CacheLease | undefined;
  #listening: Disposable | undefined;
  #joining: Promise<void> | undefined;
  /** As long as not everything is known that the source has told. */
  #comparing: Promise<unknown> | undefined;
  #mending = false;
  readonly #askNow = askedAfterNow(() => this.#ask());

  /** @param known what is shown until the source has answered: of the one whose place it takes */
  constructor(options: SourceReflectorOptions, known: ReadonlyMap<string, Encoded> = new Map()) {
    this.name = options.name;
    this.#options = options;
    for (const [text, object] of known) this.objects.set(text, object);
    this.begun = this.#begin();
  }

  get state(): MemberState {
    return this.#state;
  }

  /** Whether anything is known of what the source has. */
  get joined(): boolean {
    return this.#lease !== undefined || this.objects.size > 0;
  }

  /** Whether it may have anything: it was never read, and has not said that there is nothing for us. */
  get isUnknown(): boolean {
    return !this.joined && !this.#state.denies;
  }

  get isReadable(): boolean {
    return this.#state.reason === "Connected";
  }

  /**
   * Resolves when everything is known that the source had when this was called, or when it is not going to tell in time.
   * One that cannot be reached is not waited for. @throws what `signal` was aborted with
   */
  confirm(signal: AbortSignal): Awaitable<unknown> {
    const answered = this.#confirm(signal);
    return answered === undefined ? this.#comparing : answered.then(() => this.#comparing);
  }

  #confirm(signal: AbortSignal): Promise<void> | undefined {
    if (this.#state.reason === "Connecting") return this.begun;
    // It answers, so it can be asked: who was given permission need not wait for our next attempt.
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

  /** Lets go of the source. What was known of it stays in {@link objects}. */
  stop(): void {
    this.#stop.abort();
    this.#listening?.[Symbol.dispose]();
    this.#lease?.[Symbol.dispose]();
  }

  /** What a source tells is true, whether or not it answers. What it does not let us read is not told on. */
  get #isTold(): boolean {
    return this.#state.reason !== "Forbidden";
  }

  async #await(pending: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await this.#inTime(pending);
    } catch (error) {
      // The reader's own end tells nothing of the source.
      signal.throwIfAborted();
      this.#failed(error);
    }
  }

  async #begin(): Promise<void> {
    let joining: Promise<void> | undefined;
    const join = (): void => {
      joining = this.#join();
      // It may still come, later than anybody waits.
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

  /** One that takes its time is not asked once more. */
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

  /** Asks again and again until the source answers. */
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

  /** Patience does not count the time in which we were busy ourselves, and answers that have come were not looked at. */
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

  /** Finds what differs from what the source has, however it came to that. */
  #compare(): void {
    const work = this.#options.turns.run(this.#differences((this.#lease as CacheLease).cache));
    if (work === undefined) return;
    const all = Promise.all([this.#comparing, work.catch((error: unknown) => this.#options.onError(error))]);
    this.#comparing = all;
    void all.then(() => {
      if (this.#comparing === all) this.#comparing = undefined;
    });
  }

  /** Each object is looked at as the source has it then: it may go on changing in between, of which {@link #set} is told. */
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

/** Another server, or one that was restored from a backup, may have given the same version to something else. */
function isSame(one: Encoded, other: Encoded): boolean {
  return one === other || (one.resourceVersion === other.resourceVersion && one.bytes.equals(other.bytes));
}

// biome-ignore lint/correctness/useYield: it is done in one
function* oneStep(step: () => void): Generator<undefined> {
  step();
}
