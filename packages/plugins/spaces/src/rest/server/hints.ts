import type { ProviderChange } from "../../provider/provider.ts";
import type { SpaceEvent } from "../document/bodies.ts";
import { isSpaceName } from "../document/schemas.ts";

/** Names that are kept for a reader who lags: more are any. */
const MOST = 1_000;

/** What a provider says to have changed, for one who reads at a pace of their own: what is said twice meanwhile is said once. Begins to listen when it is made. */
export class Hints implements Disposable {
  readonly #changes: AsyncIterator<ProviderChange>;
  readonly #names = new Set<string>();
  #any = false;
  #over: { readonly error?: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(changes: AsyncIterable<ProviderChange>) {
    this.#changes = changes[Symbol.asyncIterator]();
    void this.#listen();
  }

  /**
   * What has changed since it was asked last: at once, or as soon as something has; nothing, when it has been waited for so long, ms, or the signal is aborted.
   *
   * @returns `undefined`: there is nothing more to come
   * @throws what the provider throws, after all that it has said
   */
  async next(within: number, signal: AbortSignal): Promise<readonly SpaceEvent[] | undefined> {
    if (!this.#any && this.#names.size === 0 && this.#over === undefined && !signal.aborted)
      await this.#news(within, signal);
    const events = this.#taken();
    if (events.length > 0 || this.#over === undefined) return events;
    if ("error" in this.#over) throw this.#over.error;
    return undefined;
  }

  /** Nobody listens any more; a provider that does not mind is not waited for. */
  [Symbol.dispose](): void {
    this.#changes.return?.().catch(() => undefined);
  }

  async #news(within: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, within);
    this.#wake = resolve;
    const wake = (): void => resolve();
    signal.addEventListener("abort", wake, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }

  async #listen(): Promise<void> {
    try {
      for (let step = await this.#changes.next(); step.done !== true; step = await this.#changes.next()) {
        this.#hear(step.value);
        this.#wake();
      }
      this.#over = {};
    } catch (error) {
      this.#over = { error };
    }
    this.#wake();
  }

  #hear({ name }: ProviderChange): void {
    if (!isSpaceName(name) || this.#names.size >= MOST) this.#any = true;
    if (this.#any) this.#names.clear();
    else if (isSpaceName(name)) this.#names.add(name);
  }

  #taken(): readonly SpaceEvent[] {
    const events: readonly SpaceEvent[] = this.#any
      ? [{ type: "CHANGED" }]
      : [...this.#names].map((name) => ({ type: "CHANGED", name }));
    this.#any = false;
    this.#names.clear();
    return events;
  }
}
