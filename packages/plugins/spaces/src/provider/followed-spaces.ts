import { setTimeout as pause } from "node:timers/promises";
import { Backoff, retryAfterOf } from "@virtual-workspaces/client";
import { sameSpace } from "./checked.ts";
import type { PhysicalSpace, ProviderChange } from "./provider.ts";
import type { ProviderCalls } from "./provider-calls.ts";

/** What is followed, and who is told. */
export interface FollowedSpacesOptions {
  readonly calls: ProviderCalls;
  /** Below which workspace path. @default where the provider has spaces by itself */
  readonly parent: string | undefined;
  /** How often a provider is asked that does not say what changes, ms. */
  readonly pollEvery: number;
  /** A space has come, gone or changed. */
  readonly changed: (name: string) => void;
  /** The provider can be asked, or cannot any more. */
  readonly turned: () => void;
}

/** How it stands with a provider: whether it has ever said which spaces there are, and whether it does now. */
export type Following =
  | { readonly state: "unknown" }
  | { readonly state: "current" }
  | { readonly state: "unreachable"; readonly error: Error };

/** The waits of a provider that cannot be asked, ms. */
const BACKOFF = { first: 250, most: 30_000 } as const;
/** Before a watch that has ended is begun again, ms. */
const WATCHED = 250;
/** How often one is asked for everything that says what changes, ms: it may have lost a word. */
const RESYNC = 300_000;

/** The spaces of a provider, kept in step with it. What cannot be asked for is as it was last: nothing is gone that the provider has not left out of a list, or said not to have. */
export class FollowedSpaces implements AsyncDisposable {
  readonly #options: FollowedSpacesOptions;
  readonly #over = new AbortController();
  readonly #spaces = new Map<string, PhysicalSpace>();
  /** Those that were asked for, by when that was: a list that was asked for before does not count for them. */
  readonly #asked = new Map<string, number>();
  #turn = 0;
  #isKnown = false;
  #following: Following = { state: "unknown" };
  readonly #stale = new Set<string>();
  #wake: () => void = () => undefined;
  #isAllStale = false;
  readonly #running: Promise<void>;

  constructor(options: FollowedSpacesOptions) {
    this.#options = options;
    this.#running = this.#run(this.#over.signal);
  }

  get following(): Following {
    return this.#following;
  }

  /** Whether it has said once which spaces there are. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get names(): readonly string[] {
    return [...this.#spaces.keys()];
  }

  /** As it was last. */
  get(name: string): PhysicalSpace | undefined {
    return this.#spaces.get(name);
  }

  /** As it is now. @throws what the provider throws, ProviderBusy */
  async refresh(name: string, signal: AbortSignal): Promise<PhysicalSpace | undefined> {
    const { calls, parent } = this.#options;
    return this.#asks(name, await calls.get(name, { parent, signal }));
  }

  /** What was listed last was not so: all are asked for again. */
  doubt(): void {
    this.#hear({});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    const rest = (ms: number): Promise<void> => pause(ms, undefined, { signal }).catch(() => undefined);
    while (!signal.aborted) {
      const watching = new AbortController();
      const until = AbortSignal.any([signal, watching.signal]);
      // Before the list, so that nothing is missed between the two.
      const watched = this.#watch(until);
      try {
        await Promise.race([this.#follow(until, backoff), watched]);
        watching.abort();
        await rest(WATCHED);
      } catch (error) {
        watching.abort();
        if (signal.aborted) break;
        this.#turned({ state: "unreachable", error: error as Error });
        await rest(backoff.next({ retryAfter: retryAfterOf(error) }));
      }
    }
  }

  /** Ends by a throw, or not at all. */
  async #follow(signal: AbortSignal, backoff: Backoff): Promise<never> {
    const { calls, pollEvery } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      this.#isAllStale = false;
      this.#stale.clear();
      await this.#list(signal);
      backoff.reset();
      this.#turned({ state: "current" });
      const again = performance.now() + (calls.watch === undefined ? pollEvery : RESYNC);
      while (!this.#isAllStale && performance.now() < again) {
        await this.#news(Math.max(0, again - performance.now()), signal);
        await this.#ask(signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { calls, parent } = this.#options;
    const begun = ++this.#turn;
    const spaces = await calls.list({ parent, signal });
    for (const name of new Set([...this.#spaces.keys(), ...spaces.keys()]))
      if ((this.#asked.get(name) ?? 0) <= begun) this.#take(name, spaces.get(name));
    for (const [name, turn] of this.#asked) if (turn <= begun) this.#asked.delete(name);
    this.#isKnown = true;
  }

  /** For those that something was said of. */
  async #ask(signal: AbortSignal): Promise<void> {
    const { calls, parent } = this.#options;
    const names = [...this.#stale];
    this.#stale.clear();
    for (const name of names) this.#asks(name, await calls.look(name, { parent, signal }));
  }

  #asks(name: string, space: PhysicalSpace | undefined): PhysicalSpace | undefined {
    this.#asked.set(name, ++this.#turn);
    this.#take(name, space);
    return space;
  }

  async #news(within: number, signal: AbortSignal): Promise<void> {
    if (this.#stale.size > 0) return;
    const over = new AbortController();
    this.#wake = () => over.abort();
    await pause(within, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => undefined);
    signal.throwIfAborted();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { calls, parent } = this.#options;
    const changes = calls.watch?.({ parent, signal });
    const heard = async (): Promise<void> => {
      for await (const change of changes ?? []) this.#hear(change);
    };
    // A provider that does not mind the signal is not waited for.
    await Promise.race([pending(signal), ...(changes === undefined ? [] : [heard()])]);
  }

  #hear({ name }: ProviderChange): void {
    if (name === undefined) this.#isAllStale = true;
    else this.#stale.add(name);
    this.#wake();
  }

  #take(name: string, space: PhysicalSpace | undefined): void {
    const before = this.#spaces.get(name);
    if (before === space || (before !== undefined && space !== undefined && sameSpace(before, space))) return;
    if (space === undefined) this.#spaces.delete(name);
    else this.#spaces.set(name, space);
    this.#options.changed(name);
  }

  #turned(following: Following): void {
    const isNews = wordsOf(following) !== wordsOf(this.#following);
    this.#following = following;
    if (isNews) this.#options.turned();
  }
}

const wordsOf = (following: Following): string =>
  following.state === "unreachable" ? `unreachable: ${following.error.message}` : following.state;

/** Resolves when it is aborted. */
function pending(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
