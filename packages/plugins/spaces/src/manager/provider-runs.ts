import type { Log } from "@virtual-workspaces/framework/server";
import type { SpaceProvider, SpaceProviderType } from "../provider/provider.ts";
import { ProviderCalls, withTimeout } from "../provider/provider-calls.ts";
import { ProviderReflector } from "../provider/provider-reflector.ts";

/** What all providers have in common. */
export interface ProviderRunsOptions {
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  /** ms */
  readonly pollEvery: number;
  readonly callTimeout: number;
  /** A space of a provider has come, gone or changed. */
  readonly onChange: (provider: string, parent: string | undefined, name: string) => void;
  /** A provider can be asked, or cannot any more, or is another one. */
  readonly onState: (provider: string) => void;
  readonly log: Log;
}

/** What a provider is opened by: where that is another one, it is opened anew. */
export interface ProviderOpening {
  readonly name: string;
  /** Of the SpaceProviderDesc: one that is made again is another. */
  readonly uid: string;
  readonly type: string;
  /** Of the Secret. */
  readonly version: string;
  readonly secret: Readonly<Record<string, string>>;
}

type Provider = SpaceProvider & Partial<AsyncDisposable>;

/** A provider that is open. */
export class ProviderRun implements AsyncDisposable {
  readonly by: ProviderOpening;
  readonly calls: ProviderCalls;
  readonly #provider: Provider;
  readonly #options: ProviderRunsOptions;
  readonly #followed = new Map<string | undefined, ProviderReflector>();

  constructor(by: ProviderOpening, provider: Provider, options: ProviderRunsOptions) {
    this.by = by;
    this.#provider = provider;
    this.#options = options;
    this.calls = new ProviderCalls(provider, options.callTimeout);
  }

  /** What it has below a workspace path; followed from the first time on that somebody asks. */
  below(parent: string | undefined): ProviderReflector {
    const known = this.#followed.get(parent);
    if (known !== undefined) return known;
    const { pollEvery, onChange, onState } = this.#options;
    const { name } = this.by;
    const followed = new ProviderReflector({
      calls: this.calls,
      parent,
      pollEvery,
      onChange: (space) => onChange(name, parent, space),
      onState: () => onState(name),
    });
    this.#followed.set(parent, followed);
    return followed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#followed.values()].map((followed) => followed[Symbol.asyncDispose]()));
    await this.#provider[Symbol.asyncDispose]?.();
  }
}

/** The providers that are open, one for each SpaceProviderDesc. */
export class ProviderRuns implements AsyncDisposable {
  readonly #options: ProviderRunsOptions;
  readonly #runs = new Map<string, ProviderRun>();

  constructor(options: ProviderRunsOptions) {
    this.#options = options;
  }

  get(provider: string): ProviderRun | undefined {
    return this.#runs.get(provider);
  }

  /** Sees to it that it is open. @throws what its type throws on its Secret; ProviderTimeout; the signal's reason */
  async open(by: ProviderOpening, signal: AbortSignal): Promise<ProviderRun> {
    const before = this.#runs.get(by.name);
    const { uid, version } = by;
    if (before !== undefined && before.by.uid === uid && before.by.version === version) return before;
    // The one before serves until there is another, unless it was somebody else's.
    if (before !== undefined && before.by.uid !== uid) await this.close(by.name);
    const provider = await this.#openProvider(by, signal);
    await this.close(by.name);
    const run = new ProviderRun(by, provider, this.#options);
    this.#runs.set(by.name, run);
    run.below(undefined);
    this.#options.onState(by.name);
    return run;
  }

  /** One that comes when nobody waits for it any more is closed. */
  async #openProvider({ name, secret, type }: ProviderOpening, signal: AbortSignal): Promise<Provider> {
    const { types, callTimeout: timeout, log } = this.#options;
    const known = types[type];
    if (known === undefined) throw new Error(`there is no provider of type ${type}`);
    let opening: Promise<Provider> | undefined;
    try {
      return await withTimeout("whether it can be opened", { timeout, signal }, (signal) => {
        opening = Promise.resolve(known.open({ name, secret, signal, log }));
        return opening;
      });
    } catch (error) {
      opening?.then((late) => late[Symbol.asyncDispose]?.()).catch(() => undefined);
      throw error;
    }
  }

  async close(provider: string): Promise<void> {
    const run = this.#runs.get(provider);
    if (!this.#runs.delete(provider)) return;
    await run?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((provider) => this.close(provider)));
  }
}
