import { retryAfterOf } from "@virtual-workspaces/client/http";
import { aborted, Backoff, sleep } from "@virtual-workspaces/transport";
import { type PhysicalSpace, type ProviderChange, sameSpace } from "./provider.ts";
import type { ProviderCalls } from "./provider-calls.ts";

/** What is followed, and who is told. */
export interface ProviderReflectorOptions {
  readonly calls: ProviderCalls;
  /** Below which workspace path. @default where the provider has spaces by itself */
  readonly parent: string | undefined;
  /** How often a provider is asked that does not say what changes, ms. */
  readonly pollEvery: number;
  /** A space has come, gone or changed. */
  readonly onChange: (name: string) => void;
  /** The provider can be asked, or cannot any more. */
  readonly onState: () => void;
}

/** How it stands with a provider: whether it has ever said which spaces there are, and whether it does now. */
export type ReflectorState =
  | { readonly status: "unknown" }
  | { readonly status: "current" }
  | { readonly status: "unreachable"; readonly error: Error };

/** The waits of a provider that cannot be asked, ms. */
const BACKOFF = { first: 250, most: 30_000 } as const;
/** Before a watch that has ended is begun again, ms. */
const WATCHED = 250;
/** How often one is asked for everything that says what changes, ms: it may have lost a word. */
const RESYNC = 300_000;

/**
 * The spaces of a provider, kept in step with it. What cannot be asked for is as it was last: nothing is gone that the provider has not left out of a list, or said not to have.
 *
 * It is not a `ListAndWatch` of the transport package: providers have no versions to resume from. A watch begins before the list, and reports which
 * spaces to read again.
 */
export class ProviderReflector implements AsyncDisposable {
  readonly #options: ProviderReflectorOptions;
  readonly #over = new AbortController();
  readonly #spaces = new Map<string, PhysicalSpace>();
  /** Those that were asked for, by when that was: a list that was asked for before does not count for them. */
  readonly #refreshedAt = new Map<string, number>();
  #clock = 0;
  #isKnown = false;
  #state: ReflectorState = { status: "unknown" };
  readonly #stale = new Set<string>();
  #wake: () => void = () => undefined;
  #isAllStale = false;
  readonly #running: Promise<void>;

  constructor(options: ProviderReflectorOptions) {
    this.#options = options;
    this.#running = this.#run(this.#over.signal);
  }

  get state(): ReflectorState {
    return this.#state;
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
    return this.#record(name, await calls.get(name, { parent, signal }));
  }

  /** What was listed last was not so: all are asked for again. */
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
      // Before the list, so that nothing is missed between the two.
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

  /** Ends by a throw, or not at all. */
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

  /** For those that something was said of. */
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
    // A provider that does not mind the signal is not waited for.
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
