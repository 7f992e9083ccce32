import type { Log } from "@virtual-workspaces/framework/server";
import type { SpaceProvider, SpaceProviderType } from "../provider/provider.ts";
import { ProviderCalls, withTimeout } from "../provider/provider-calls.ts";
import { ProviderReflector, type ReflectorContent } from "../provider/provider-reflector.ts";

/** Options of all providers. */
export interface ProviderRunsOptions {
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  /** ms */
  readonly pollEvery: number;
  readonly callTimeout: number;
  /** Called when a space of a provider is added, deleted or changed. */
  readonly onChange: (provider: string, parent: string | undefined, name: string) => void;
  /** Called when a provider becomes reachable or unreachable, or is replaced. */
  readonly onState: (provider: string) => void;
  readonly log: Log;
}

/** Identity of an open provider. The provider is opened again when it changes. */
export interface ProviderOpening {
  readonly name: string;
  /** UID of the SpaceProviderDesc, which changes when it is created again. */
  readonly uid: string;
  readonly type: string;
  /** Version of the Secret. */
  readonly version: string;
  readonly secret: Readonly<Record<string, string>>;
}

type Provider = SpaceProvider & Partial<AsyncDisposable>;

/** An open provider. */
export class ProviderRun implements AsyncDisposable {
  readonly by: ProviderOpening;
  readonly calls: ProviderCalls;
  readonly #provider: Provider;
  readonly #options: ProviderRunsOptions;
  readonly #followed = new Map<string | undefined, ProviderReflector>();
  readonly #before: ReadonlyMap<string | undefined, ReflectorContent>;

  /** @param before previous provider of the same SpaceProviderDesc, whose listed spaces count until this one has listed its own */
  constructor(
    { by, provider, before }: { by: ProviderOpening; provider: Provider; before: ProviderRun | undefined },
    options: ProviderRunsOptions,
  ) {
    this.by = by;
    this.#provider = provider;
    this.#options = options;
    this.#before = before?.content ?? new Map();
    this.calls = new ProviderCalls(provider, options.callTimeout);
  }

  /** Listed spaces of the provider, by workspace path. */
  get content(): ReadonlyMap<string | undefined, ReflectorContent> {
    return new Map([...this.#followed].map(([parent, reflector]) => [parent, reflector.content]));
  }

  /** Returns the reflector of a workspace path, and starts it at the first call. */
  below(parent: string | undefined): ProviderReflector {
    const known = this.#followed.get(parent);
    if (known !== undefined) return known;
    const { pollEvery, onChange, onState } = this.#options;
    const { name } = this.by;
    const followed = new ProviderReflector(
      {
        calls: this.calls,
        parent,
        pollEvery,
        onChange: (space) => onChange(name, parent, space),
        onState: () => onState(name),
      },
      this.#before.get(parent),
    );
    this.#followed.set(parent, followed);
    return followed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#followed.values()].map((followed) => followed[Symbol.asyncDispose]()));
    await this.#provider[Symbol.asyncDispose]?.();
  }
}

/** Open providers, one for each SpaceProviderDesc. */
export class ProviderRuns implements AsyncDisposable {
  readonly #options: ProviderRunsOptions;
  readonly #runs = new Map<string, ProviderRun>();

  constructor(options: ProviderRunsOptions) {
    this.#options = options;
  }

  get(provider: string): ProviderRun | undefined {
    return this.#runs.get(provider);
  }

  /** Opens a provider unless it is open. @throws errors of its type about the Secret; ProviderTimeout; the signal's reason */
  async open(by: ProviderOpening, signal: AbortSignal): Promise<ProviderRun> {
    const before = this.#runs.get(by.name);
    const { uid, version } = by;
    if (before !== undefined && before.by.uid === uid && before.by.version === version) return before;
    // The previous provider serves until the new one is open, and what it listed is valid until the new one has listed its spaces, unless it
    // belongs to another SpaceProviderDesc.
    if (before !== undefined && before.by.uid !== uid) await this.close(by.name);
    const provider = await this.#openProvider(by, signal);
    await this.close(by.name);
    const run = new ProviderRun({ by, provider, before: before?.by.uid === uid ? before : undefined }, this.#options);
    this.#runs.set(by.name, run);
    run.below(undefined);
    this.#options.onState(by.name);
    return run;
  }

  /** Closes a provider that opens after its time limit. */
  async #openProvider({ name, secret, type }: ProviderOpening, signal: AbortSignal): Promise<Provider> {
    const { types, callTimeout: timeout, log } = this.#options;
    const known = types[type];
    if (known === undefined) throw new Error(`unknown provider type ${type}`);
    let opening: Promise<Provider> | undefined;
    try {
      return await withTimeout("open", { timeout, signal }, (signal) => {
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
