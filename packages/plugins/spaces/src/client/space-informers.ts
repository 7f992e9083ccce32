import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type Clock, systemClock } from "@virtual-workspaces/client";
import { untilAborted } from "@virtual-workspaces/transport";
import type { EngagedSpace } from "./engaged-space.ts";
import type { SpaceName } from "./space-name.ts";
import { type SpaceInformer, SpaceSource } from "./space-source.ts";

/** Functions that return a started informer of each kind for a Space. */
export type SpaceInformerFactories = Readonly<Record<string, (space: EngagedSpace) => SpaceInformer<KubeObject>>>;

/** Source across all Spaces for each kind. */
export type SpaceSources<F extends SpaceInformerFactories> = {
  readonly [K in keyof F]: SpaceSource<F[K] extends (space: EngagedSpace) => SpaceInformer<infer T> ? T : never>;
};

/** Options of {@link Spaces.informers}. */
export interface SpaceInformersOptions<F extends SpaceInformerFactories> {
  /** Informer factories by a name of your choice: `{ maps: ({ client }) => new Informer({ resource: client.resource(ConfigMap) }).start() }`. */
  readonly informers: F;
  /** Time after which {@link SpaceInformers.synced} no longer waits for a Space, ms. @default 10,000 */
  readonly patience?: number;
  /** @default the system clock */
  readonly clock?: Clock;
}

interface SpaceInformersContext<F extends SpaceInformerFactories> extends SpaceInformersOptions<F> {
  readonly synced: Promise<void>;
  readonly failed: (space: SpaceName, error: unknown) => void;
  readonly closed: () => void;
}

/** State of the informers of a Space. */
export interface SpaceInformersStatus {
  readonly space: SpaceName;
  /** Whether the initial objects were delivered. It stays true while the Space is temporarily unreachable. */
  readonly synced: boolean;
  /** Last error, until the informers are synced. */
  readonly error?: unknown;
}

/**
 * Informers of some kinds in each Space, with one source for each kind across all Spaces. A Space's objects appear once all its informers
 * are synced, and its failures do not affect other Spaces. An unreachable Space keeps its last objects.
 *
 * Memory: that of an informer for each kind and Space.
 *
 * @typeParam F functions that return the informers, by name
 */
export class SpaceInformers<F extends SpaceInformerFactories> implements AsyncDisposable {
  /** Sources for controllers. */
  readonly sources: SpaceSources<F>;
  /** Resolves when each initial Space is synced, has failed, or has exceeded the time limit; rejects if it is closed before. */
  readonly synced: Promise<void>;
  readonly #parts: SpaceInformersContext<F>;
  readonly #sources: ReadonlyMap<string, SpaceSource<KubeObject>>;
  readonly #shown = new Map<SpaceName, SpaceRun>();
  /** Runs that are not synced yet. A Space with a new server has one in addition to its current run. */
  readonly #coming = new Map<SpaceName, SpaceRun>();
  readonly #stop = new AbortController();

  /** @internal Made by {@link Spaces.informers}. */
  constructor(parts: SpaceInformersContext<F>) {
    this.#parts = parts;
    this.synced = this.#sync();
    this.synced.catch(() => undefined); // Callers that do not wait need no error.
    const names = Object.keys(parts.informers);
    this.#sources = new Map(names.map((name) => [name, new SpaceSource(this.synced)]));
    this.sources = Object.fromEntries(this.#sources) as unknown as SpaceSources<F>;
  }

  /** State of each Space, sorted by name. */
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

  /** Stops all informers without further events. */
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

/** Informers of one Space over one connection. */
class SpaceRun implements AsyncDisposable {
  readonly informers: ReadonlyMap<string, SpaceInformer<KubeObject>>;
  /** Resolves with true when all are synced, and with `false` if they are stopped before. */
  readonly synced: Promise<boolean>;
  /** Resolves after a failure, or when the initial objects were delivered. */
  readonly settled: Promise<void>;
  /** Last error. */
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

  /** Marks the initial objects as delivered. */
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

  /** Creates the informers. An informer that cannot be created is reported, and the Space is not synced without it. */
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
    if (this.#isOver) return; // An abort before the sync is not a failure.
    this.failure = error;
    this.#settle();
    this.#failed(error);
  }
}
