import { sleep } from "@virtual-workspaces/transport";
import type { SpaceEngager } from "../client/engagements.ts";
import { partsOf, type SpaceName } from "../client/space-name.ts";
import type { Spaces } from "../client/spaces.ts";
import { ServedSpace, type ServingOptions } from "./served-space.ts";
import { isAt, isOne, type SpacePath } from "./space-path.ts";

/** Maximum number of concurrent discoveries. */
const AT_A_TIME = 16;
/** Minimum interval between two rounds for each Space, ms, so that a thousand Spaces are not polled all the time. */
const EACH = 30;

/** All Spaces that the view serves, with the kinds of each. */
export class ServedSpaces implements SpaceEngager {
  readonly #spaces: Spaces;
  readonly #options: ServingOptions;
  readonly #every: number;
  readonly #served = new Map<SpaceName, ServedSpace>();
  /** Spaces by name, regardless of their provider. */
  readonly #called = new Map<string, Set<SpaceName>>();
  readonly #listeners = new Set<(name: SpaceName) => void>();
  readonly #ending = new Set<Promise<void>>();
  readonly #joined: Disposable;
  /** Discoveries of new Spaces. */
  readonly #first = new Set<Promise<void>>();
  #asked = Number.NEGATIVE_INFINITY;
  #round: Promise<void> | undefined;

  /** @param every `discoverEvery` of the view */
  constructor(spaces: Spaces, options: ServingOptions, every: number) {
    this.#spaces = spaces;
    this.#options = options;
    this.#every = every;
    this.#joined = spaces.join(this);
  }

  get(name: SpaceName): ServedSpace | undefined {
    return this.#served.get(name);
  }

  get all(): Iterable<ServedSpace> {
    return this.#served.values();
  }

  /** Returns the Spaces of a URL, sorted by name. */
  at(path: SpacePath): ServedSpace[] {
    const called = isOne(path) ? (this.#called.get(path.space) ?? []) : this.#served.keys();
    const found = [...called].sort().flatMap((name) => this.#served.get(name) ?? []);
    return found.filter(({ space }) => isAt(path, space));
  }

  /** Calls a listener for each Space that has changed or is gone. */
  listen(changed: (name: SpaceName) => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  /** Resolves when the current Spaces have reported their kinds, or after `patience` ms. */
  async known(patience: number, signal: AbortSignal): Promise<void> {
    if (this.#first.size === 0) return;
    const over = new AbortController();
    const late = sleep(patience, { signal: AbortSignal.any([signal, over.signal]) });
    await Promise.race([Promise.all(this.#first), late]);
    over.abort();
    signal.throwIfAborted();
  }

  /** Starts a discovery in the background if the interval has passed. */
  refresh(): void {
    const since = performance.now() - this.#asked;
    if (this.#round !== undefined || since < Math.max(this.#every, this.#served.size * EACH)) return;
    this.#round = this.#discover().finally(() => {
      this.#asked = performance.now();
      this.#round = undefined;
    });
  }

  /** @internal */
  async engage(): Promise<void> {
    // The `changed` call that follows updates the Space.
  }

  /** @internal */
  async disengage(): Promise<void> {
    // The `changed` call that follows closes the Space.
    await undefined;
    await Promise.all(this.#ending);
  }

  /** @internal */
  changed(name: SpaceName): void {
    const known = this.#spaces.known(name);
    const before = this.#served.get(name);
    this.#calls(name, known !== undefined);
    if (known === undefined) this.#served.delete(name);
    else if (before !== undefined && before.engagement?.upstream === known.engaged?.upstream) before.changed(known);
    else this.#add(new ServedSpace(known, this.#options));
    for (const changed of [...this.#listeners]) changed(name);
    if (before !== undefined && before !== this.#served.get(name)) this.#end(before);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#joined[Symbol.dispose]();
    for (const served of this.#served.values()) this.#end(served);
    this.#served.clear();
    await Promise.all([...this.#ending, this.#round]);
  }

  #calls(name: SpaceName, isThere: boolean): void {
    const called = partsOf(name).name;
    const names = this.#called.get(called) ?? new Set<SpaceName>();
    if (isThere) this.#called.set(called, names.add(name));
    else if (names.delete(name) && names.size === 0) this.#called.delete(called);
  }

  #add(served: ServedSpace): void {
    this.#served.set(served.name, served);
    if (served.engagement === undefined) return;
    const first = this.#ask(served).finally(() => this.#first.delete(first));
    this.#first.add(first);
  }

  async #discover(): Promise<void> {
    const waiting = [...this.#served.values()].values();
    const work = async (): Promise<void> => {
      for (const served of waiting) await this.#ask(served);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
  }

  async #ask(served: ServedSpace): Promise<void> {
    const isNews = await served.discover();
    if (isNews && this.#served.get(served.name) === served)
      for (const changed of [...this.#listeners]) changed(served.name);
  }

  #end(served: ServedSpace): void {
    const ending = served[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
