import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Clock } from "@virtual-workspaces/transport";
import type { RateLimitOptions } from "./rate-limit.ts";
import type { Source } from "./source.ts";

/** Source of a controller: its own objects, or related ones. */
export type ControllerSource<T extends KubeObject> =
  | {
      /** Informer of the objects to reconcile. If several sources have an object, the first one provides it. */
      readonly informer: Source<T>;
      readonly key?: undefined;
    }
  | RelatedSource;

/** Source of other objects whose changes enqueue keys. Created by {@link related}. */
export interface RelatedSource {
  readonly informer: Source;
  /**
   * Returns the keys to reconcile when this object changes. For an update, the controller calls it with the old and
   * with the new object.
   */
  readonly key: (object: KubeObject, key: ObjectKey) => ObjectKey | readonly ObjectKey[];
}

/** Creates a source of related objects: `related(informer, ownerKeys(Todo))`. Like controller-runtime's `Owns` and `Watches`. */
export function related<T extends KubeObject>(
  informer: Source<T>,
  key: (object: T, key: ObjectKey) => ObjectKey | readonly ObjectKey[],
): RelatedSource {
  return { informer: informer as unknown as Source, key: (object, own) => key(object as T, own) };
}

/** Second argument of a reconcile. */
export interface ReconcileContext {
  /** Aborts at the timeout, when the controller stops, or when the object's cluster is disengaged. Pass it to every call. */
  readonly signal: AbortSignal;
  /** Number of the attempt: 1, and 1 more after each failure. */
  readonly attempt: number;
}

/** Result of a reconcile: delay before the next one, even if nothing changes, in ms. */
export interface ReconcileResult {
  readonly requeueAfter?: number;
}

/** Failed reconcile, as `onError` receives it. */
export interface ReconcileFailure {
  readonly controller: string;
  readonly error: unknown;
  /** Key that failed. Missing if a source failed. */
  readonly key?: ObjectKey;
  readonly attempt: number;
  /** Delay before the next attempt, in ms. Missing if there is none. */
  readonly retryAfter?: number;
}

/** Options of {@link controller}. */
export interface ControllerOptions<T extends KubeObject> {
  /** Name of the controller in its reports. */
  readonly name: string;
  readonly sources: readonly ControllerSource<T>[];
  /**
   * Brings the actual state in line with the object. The controller calls it after every possible change, once for many
   * changes, and never concurrently for one key. It may run again at any time, so it must be idempotent. `object` is
   * `undefined` if it was deleted or never existed.
   */
  readonly reconcile: (
    key: ObjectKey,
    context: ReconcileContext & { readonly object: T | undefined },
    // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is one too
  ) => Promise<ReconcileResult | void> | ReconcileResult | void;
  /**
   * Releases resources held for an object whose cluster was disengaged, after its last reconcile. It must not clean up
   * elsewhere, because the object was not deleted. A failure is retried, like that of a reconcile.
   *
   * @default such keys are dropped
   */
  readonly gone?: (key: ObjectKey, context: ReconcileContext) => Promise<void> | void;
  /**
   * Called for every failure except conflicts, which are retried silently. Required because failures would otherwise be
   * invisible. Also called when an informer cannot read and has neither an `onError` nor a handler for `lifecycle` events: once
   * for each reason, without a key.
   */
  readonly onError: (failure: ReconcileFailure) => void;
  /** Number of keys to reconcile concurrently (`MaxConcurrentReconciles`). @default 1 */
  readonly workers?: number;
  /** Time after which the signal of a reconcile aborts, in ms (`ReconciliationTimeout`). @default Infinity */
  readonly timeout?: number;
  /** Graceful shutdown: time for running reconciles to finish before their signals abort, in ms. @default 30,000 */
  readonly grace?: number;
  readonly rateLimit?: RateLimitOptions;
  /** Stops the controller when it aborts. */
  readonly signal?: AbortSignal;
  /** Source of time. @default the system clock */
  readonly clock?: Clock;
}
