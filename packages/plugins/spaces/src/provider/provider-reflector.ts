import { retryAfterOf } from "@virtual-workspaces/client/http";
import { aborted, Backoff, sleep } from "@virtual-workspaces/transport";
import { type PhysicalSpace, type ProviderChange, sameSpace } from "./provider.ts";
import type { ProviderCalls } from "./provider-calls.ts";

/** Options of a {@link ProviderReflector}. */
export interface ProviderReflectorOptions {
  readonly calls: ProviderCalls;
  /** Workspace path of the parent. @default the provider's own place for spaces */
  readonly parent: string | undefined;
  /** Interval between lists of a provider without `watch`, ms. */
  readonly pollEvery: number;
  /** Called when a space is added, deleted or changed. */
  readonly onChange: (name: string) => void;
  /** Called when the provider becomes reachable or unreachable. */
  readonly onState: () => void;
}

/** State of a provider: whether it has ever listed its spaces, and whether it is reachable now. */
export type ReflectorState =
  | { readonly status: "unknown" }
  | { readonly status: "current" }
  | { readonly status: "unreachable"; readonly error: Error };

/** Content of a {@link ProviderReflector}, with which its successor starts. */
export interface ReflectorContent {
  readonly spaces: ReadonlyMap<string, PhysicalSpace>;
  readonly isKnown: boolean;
  readonly state: ReflectorState;
}

/** Backoff while the provider is unreachable, ms. */
const BACKOFF = { first: 250, most: 30_000 } as const;
/** Delay before an ended watch is restarted, ms. */
const WATCHED = 250;
/** Interval between full lists of a provider with `watch`, ms: its watch may lose an event. */
const RESYNC = 300_000;

/**
 * Cache of a provider's spaces, kept up to date by lists and watches. While the provider is unreachable, the cache keeps its last contents:
 * it removes a space only when a list omits it or `get` returns `undefined`.
 *
 * The class does not use `ListAndWatch` of the transport package, since providers have no resource versions to resume from. A watch starts
 * before the list and reports which spaces to read again.
 */
export class ProviderReflector implements AsyncDisposable {
  readonly #options: ProviderReflectorOptions;
  readonly #over = new AbortController();
  readonly #spaces = new Map<string, PhysicalSpace>();
  /** Clock value of each space's last single read. The result of a list that started earlier is ignored for that space. */
  readonly #refreshedAt = new Map<string, number>();
  #clock = 0;
  #isKnown = false;
  #state: ReflectorState = { status: "unknown" };
  readonly #stale = new Set<string>();
  #wake: () => void = () => undefined;
  #isAllStale = false;
  readonly #running: Promise<void>;

  /** @param before content until the first list. @default nothing is known */
  constructor(options: ProviderReflectorOptions, before?: ReflectorContent) {
    this.#options = options;
    for (const [name, space] of before?.spaces ?? []) this.#spaces.set(name, space);
    this.#isKnown = before?.isKnown ?? false;
    this.#state = before?.state ?? this.#state;
    this.#running = this.#run(this.#over.signal);
  }

  get state(): ReflectorState {
    return this.#state;
  }

  get content(): ReflectorContent {
    return { spaces: this.#spaces, isKnown: this.#isKnown, state: this.#state };
  }

  /** Whether a list has succeeded at least once. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get names(): readonly string[] {
    return [...this.#spaces.keys()];
  }

  /** Returns a space from the cache. */
  get(name: string): PhysicalSpace | undefined {
    return this.#spaces.get(name);
  }

  /** Reads a space from the provider. @throws errors of the provider; ProviderBusy */
  async refresh(name: string, signal: AbortSignal): Promise<PhysicalSpace | undefined> {
    const { calls, parent } = this.#options;
    return this.#record(name, await calls.get(name, { parent, signal }));
  }

  /** Requests a full list, for a caller that found the last one wrong. */
  relist(): void {
    this.#onChange({});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    while (!signal.aborted) {
      const watching = new AbortController();
      const until = AbortSignal.any([signal, watching.signal]);
      // The watch starts before the list, so that no change between the two is missed.
      const watched = this.#watch(until);
      try {
        await Promise.race([this.#listAndWatch(until, backoff), watched]);
        watching.abort();
        await sleep(WATCHED, { signal });
      } catch (error) {
        watching.abort();
        if (signal.aborted) break;
        this.#enter({ status: "unreachable", error: error as Error });
        await sleep(backoff.next({ retryAfter: retryAfterOf(error) }), { signal });
      }
    }
  }

  /** Lists and refreshes until an error; never returns. */
  async #listAndWatch(signal: AbortSignal, backoff: Backoff): Promise<never> {
    const { calls, pollEvery } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      this.#isAllStale = false;
      this.#stale.clear();
      await this.#list(signal);
      backoff.reset();
      this.#enter({ status: "current" });
      const again = performance.now() + (calls.watch === undefined ? pollEvery : RESYNC);
      while (!this.#isAllStale && performance.now() < again) {
        await this.#waitForChange(Math.max(0, again - performance.now()), signal);
        await this.#refreshStale(signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { calls, parent } = this.#options;
    const begun = ++this.#clock;
    const spaces = await calls.list({ parent, signal });
    for (const name of new Set([...this.#spaces.keys(), ...spaces.keys()]))
      if ((this.#refreshedAt.get(name) ?? 0) <= begun) this.#store(name, spaces.get(name));
    for (const [name, turn] of this.#refreshedAt) if (turn <= begun) this.#refreshedAt.delete(name);
    this.#isKnown = true;
  }

  /** Reads the spaces that the watch reported as changed. */
  async #refreshStale(signal: AbortSignal): Promise<void> {
    const { calls, parent } = this.#options;
    const names = [...this.#stale];
    this.#stale.clear();
    for (const name of names) this.#record(name, await calls.poll(name, { parent, signal }));
  }

  #record(name: string, space: PhysicalSpace | undefined): PhysicalSpace | undefined {
    this.#refreshedAt.set(name, ++this.#clock);
    this.#store(name, space);
    return space;
  }

  async #waitForChange(within: number, signal: AbortSignal): Promise<void> {
    if (this.#stale.size > 0) return;
    const over = new AbortController();
    this.#wake = () => over.abort();
    await sleep(within, { signal: AbortSignal.any([signal, over.signal]) });
    signal.throwIfAborted();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { calls, parent } = this.#options;
    const changes = calls.watch?.({ parent, signal });
    const heard = async (): Promise<void> => {
      for await (const change of changes ?? []) this.#onChange(change);
    };
    // A provider that ignores the signal must not block the watch from ending.
    await Promise.race([aborted(signal), ...(changes === undefined ? [] : [heard()])]);
  }

  #onChange({ name }: ProviderChange): void {
    if (name === undefined) this.#isAllStale = true;
    else this.#stale.add(name);
    this.#wake();
  }

  #store(name: string, space: PhysicalSpace | undefined): void {
    const before = this.#spaces.get(name);
    if (before === space || (before !== undefined && space !== undefined && sameSpace(before, space))) return;
    if (space === undefined) this.#spaces.delete(name);
    else this.#spaces.set(name, space);
    this.#options.onChange(name);
  }

  #enter(state: ReflectorState): void {
    const isNews = stateText(state) !== stateText(this.#state);
    this.#state = state;
    if (isNews) this.#options.onState();
  }
}

const stateText = (state: ReflectorState): string =>
  state.status === "unreachable" ? `unreachable: ${state.error.message}` : state.status;
