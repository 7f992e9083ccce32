import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { EngagedSpace } from "./engaged-space.ts";
import type { SpaceInformerFactories } from "./space-informers.ts";
import type { SpaceInformer } from "./space-source.ts";

/** The informers of one Space, over one way to reach it. */
export class SpaceRun implements AsyncDisposable {
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
