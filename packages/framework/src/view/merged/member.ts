import { setTimeout as delay } from "node:timers/promises";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "../../encoded.ts";
import type { Awaitable, CacheLease, Scope } from "../../storage.ts";
import { askedAfterNow } from "../../watch/after-now.ts";
import { cacheKey, objectsIn } from "../../watch/objects.ts";
import type { ViewSource } from "../options.ts";
import { Late, type MemberState, stateAfter } from "./member-state.ts";

export interface MemberOptions {
  readonly name: string;
  readonly source: ViewSource;
  /** The logical cluster that the source's objects are in; `undefined` where they say so themselves. */
  readonly cluster: string | undefined;
  /** As the readers ask. */
  readonly scope: Scope;
  readonly patience: number;
  readonly onError: (error: unknown) => void;
  /** Told of every change of {@link Member.objects}, already made, by the key that the object has here. */
  readonly onChange: (key: string) => void;
}

/** Milliseconds between attempts on a failing source: doubled each time, with jitter. */
const RETRY = { first: 100, last: 5_000 } as const;

/**
 * One source as one stream follows it. It keeps what is known of the source, through whatever befalls that; it forgets it
 * when the source says so, and when the source says that we may not read it.
 */
export class Member {
  readonly name: string;
  /** What the source has as far as is known, by the key that it has here. References to what the source keeps. */
  readonly objects: Map<string, Encoded> = new Map();
  /** Resolves when the source has answered for the first time, or is not going to in time. */
  readonly begun: Promise<void>;
  readonly #options: MemberOptions;
  readonly #stop = new AbortController();
  #state: MemberState = { reason: "Connecting", message: "", since: new Date() };
  #lease: CacheLease | undefined;
  #listening: Disposable | undefined;
  #joining: Promise<void> | undefined;
  #mending = false;
  readonly #askNow = askedAfterNow(() => this.#ask());

  /** @param known what is shown until the source has answered: of the one whose place it takes */
  constructor(options: MemberOptions, known: ReadonlyMap<string, Encoded> = new Map()) {
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

  get isReadable(): boolean {
    return this.#state.reason === "Connected";
  }

  /**
   * Resolves when everything is known that the source had when this was called, or when it is not going to tell in time.
   * One that cannot be reached is not waited for. @throws what `signal` was aborted with
   */
  confirm(signal: AbortSignal): Awaitable<void> {
    if (this.#state.reason === "Connecting") return this.begun;
    // It answers, so it can be asked: who was given permission need not wait for our next attempt.
    if (this.#state.reason === "Forbidden") return this.#askNow();
    if (this.#lease === undefined || !this.isReadable) return undefined;
    try {
      const pending = this.#lease.confirm({ signal });
      return pending instanceof Promise ? this.#await(pending, signal) : undefined;
    } catch (error) {
      return this.#failed(error);
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
    const joining = this.#join();
    try {
      await this.#inTime(joining);
    } catch (error) {
      this.#failed(error);
      // It may still come, later than anybody waits.
      joining.catch(() => undefined);
    }
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
    this.#state = { reason: "Connected", message: "", since: new Date() };
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
    for (let wait: number = RETRY.first; !signal.aborted && !this.isReadable; wait = Math.min(wait * 2, RETRY.last)) {
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
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

  async #inTime(pending: Promise<void>): Promise<void> {
    const { patience } = this.#options;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Late(patience)), patience);
    try {
      await Promise.race([pending, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells of what has changed and of nothing else, however the source came to it. */
  #compare(): void {
    const { cluster, scope } = this.#options;
    const here = cluster === undefined && scope.cluster !== "*" ? scope.cluster : "";
    const current = (this.#lease as CacheLease).cache.snapshot().objects;
    const there = new Set<string>();
    for (const object of objectsIn(current, { cluster: here, namespace: "" })) {
      if (this.#isWanted(object.key)) there.add(cacheKey(this.#placed(object.key)));
      this.#set(object.key, object);
    }
    for (const text of this.objects.keys()) if (!there.has(text)) this.#remove(text);
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
