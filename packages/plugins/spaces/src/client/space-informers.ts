import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type Clock, systemClock } from "@virtual-workspaces/client";
import { untilAborted } from "@virtual-workspaces/transport";
import type { EngagedSpace } from "./engaged-space.ts";
import type { SpaceName } from "./space-name.ts";
import { type SpaceInformer, SpaceSource } from "./space-source.ts";

/** What makes the informer of each kind, started, for a Space. */
export type SpaceInformerFactories = Readonly<Record<string, (space: EngagedSpace) => SpaceInformer<KubeObject>>>;

/** For each kind the one source over all Spaces. */
export type SpaceSources<F extends SpaceInformerFactories> = {
  readonly [K in keyof F]: SpaceSource<F[K] extends (space: EngagedSpace) => SpaceInformer<infer T> ? T : never>;
};

/** What informers across Spaces are made of: {@link Spaces.informers}. */
export interface SpaceInformersOptions<F extends SpaceInformerFactories> {
  /** By a name of one's own: `{ maps: ({ client }) => new Informer({ resource: client.resource(ConfigMap) }).start() }`. */
  readonly informers: F;
  /** How long a Space may take before {@link SpaceInformers.synced} goes on without it, ms. @default 10,000 */
  readonly patience?: number;
  /** @default the machine's */
  readonly clock?: Clock;
}

interface SpaceInformersContext<F extends SpaceInformerFactories> extends SpaceInformersOptions<F> {
  readonly synced: Promise<void>;
  readonly failed: (space: SpaceName, error: unknown) => void;
  readonly closed: () => void;
}

/** How the informers of a Space are. */
export interface SpaceInformersStatus {
  readonly space: SpaceName;
  /** Whether what is in it has been told, and is followed; that it cannot be reached for now is no reason to be false. */
  readonly synced: boolean;
  /** What went wrong last, until it is synced. */
  readonly error?: unknown;
}

/**
 * Informers of some kinds in each Space, with one source of each kind over all of them. Of a Space everything is told once it is synced,
 * and nothing of one disturbs another. One that cannot be reached keeps what it has shown.
 *
 * Memory: that of an informer for each kind and Space.
 *
 * @typeParam F what makes the informers, by name
 */
export class SpaceInformers<F extends SpaceInformerFactories> implements AsyncDisposable {
  /** What controllers are given. */
  readonly sources: SpaceSources<F>;
  /** Resolves when each Space that was there at the beginning is synced, has failed, or took too long; rejects when it is closed before. */
  readonly synced: Promise<void>;
  readonly #parts: SpaceInformersContext<F>;
  readonly #sources: ReadonlyMap<string, SpaceSource<KubeObject>>;
  readonly #shown = new Map<SpaceName, SpaceRun>();
  /** Not synced yet; beside one that is shown where a Space is reached elsewhere now. */
  readonly #coming = new Map<SpaceName, SpaceRun>();
  readonly #stop = new AbortController();

  /** @internal Made by {@link Spaces.informers}. */
  constructor(parts: SpaceInformersContext<F>) {
    this.#parts = parts;
    this.synced = this.#sync();
    this.synced.catch(() => undefined); // who does not wait for it need not know
    const names = Object.keys(parts.informers);
    this.#sources = new Map(names.map((name) => [name, new SpaceSource(this.synced)]));
    this.sources = Object.fromEntries(this.#sources) as unknown as SpaceSources<F>;
  }

  /** How those of each Space are, in order of their names. */
  get statuses(): SpaceInformersStatus[] {
    const names = [...new Set([...this.#shown.keys(), ...this.#coming.keys()])].sort();
    return names.map((space) => {
      const error = this.#coming.get(space)?.failure;
      return { space, synced: this.#shown.has(space), ...(error !== undefined && { error }) };
    });
  }

  /** @internal */
  async engage(space: EngagedSpace): Promise<void> {
    const { name } = space;
    const run = new SpaceRun(space, this.#parts.informers, (error) => this.#parts.failed(name, error));
    const abandoned = this.#coming.get(name);
    this.#coming.set(name, run);
    await abandoned?.[Symbol.asyncDispose]();
    if (!(await run.synced) || this.#coming.get(name) !== run) return;
    this.#coming.delete(name);
    const before = this.#shown.get(name);
    this.#shown.set(name, run);
    for (const [kind, source] of this.#sources) {
      const informer = run.informers.get(kind);
      if (informer !== undefined) source.show(name, informer);
    }
    run.told();
    await before?.[Symbol.asyncDispose]();
  }

  /** @internal */
  async disengage({ name }: EngagedSpace, how: "deleted" | "gone"): Promise<void> {
    const runs = [this.#coming.get(name), this.#shown.get(name)];
    this.#coming.delete(name);
    this.#shown.delete(name);
    for (const source of this.#sources.values()) source.drop(name, how);
    await Promise.all(runs.map((run) => run?.[Symbol.asyncDispose]()));
  }

  /** Ends all informers; of what they have shown nothing more is told. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("informers across Spaces: closed before they were synced"));
    this.#parts.closed();
    const runs = [...this.#coming.values(), ...this.#shown.values()];
    this.#coming.clear();
    await Promise.all(runs.map((run) => run[Symbol.asyncDispose]()));
  }

  async #sync(): Promise<void> {
    const { synced, patience = 10_000, clock = systemClock } = this.#parts;
    const { signal } = this.#stop;
    await untilAborted(synced, signal);
    const late = Promise.withResolvers<void>();
    using _ = clock.after(patience, late.resolve);
    const first = Promise.all([...this.#coming.values()].map(({ settled }) => settled));
    await untilAborted(Promise.race([first, late.promise]), signal);
  }
}

/** The informers of one Space, over one way to reach it. */
class SpaceRun implements AsyncDisposable {
  readonly informers: ReadonlyMap<string, SpaceInformer<KubeObject>>;
  /** Whether all of them are synced, once they are; `false` where they are ended before. */
  readonly synced: Promise<boolean>;
  /** Resolves when something went wrong, or what they have was told. */
  readonly settled: Promise<void>;
  /** What went wrong last. */
  failure: unknown;
  #isOver = false;
  readonly #settle: () => void;
  readonly #ended = Promise.withResolvers<false>();
  readonly #failed: (error: unknown) => void;

  constructor(space: EngagedSpace, factories: SpaceInformerFactories, failed: (error: unknown) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.#settle = resolve;
    this.#failed = failed;
    this.informers = this.#started(space, factories);
    const isWhole = this.informers.size === Object.keys(factories).length;
    const all = Promise.all([...this.informers.values()].map(({ synced }) => synced));
    const whole = all.then(
      () => isWhole || this.#ended.promise,
      (error: unknown) => {
        this.#fail(error);
        return this.#ended.promise;
      },
    );
    this.synced = Promise.race([whole, this.#ended.promise]);
  }

  /** What they have was told. */
  told(): void {
    this.failure = undefined;
    this.#settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#ended.resolve(false);
    this.#settle();
    await Promise.all([...this.informers.values()].map((informer) => informer[Symbol.asyncDispose]?.()));
  }

  /** One that cannot be made is reported, and the Space is not synced without it. */
  #started(space: EngagedSpace, factories: SpaceInformerFactories): Map<string, SpaceInformer<KubeObject>> {
    const informers = new Map<string, SpaceInformer<KubeObject>>();
    for (const [name, make] of Object.entries(factories)) {
      try {
        const informer = make(space);
        informer.on({ lifecycle: ({ type, error }) => type === "error" && this.#fail(error) });
        informers.set(name, informer);
      } catch (error) {
        this.#fail(error);
      }
    }
    return informers;
  }

  #fail(error: unknown): void {
    if (this.#isOver) return; // that they are stopped before they are synced is no failure
    this.failure = error;
    this.#settle();
    this.#failed(error);
  }
}
