import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Clock } from "@virtual-workspaces/transport";
import type { RateLimitOptions } from "./rate-limit.ts";
import type { Source } from "./source.ts";

/** What a controller follows. */
export type ControllerSource<T extends KubeObject> =
  | {
      /** The objects that are reconciled. Of several, the first that has an object gives it. */
      readonly informer: Source<T>;
      readonly key?: undefined;
    }
  | RelatedSource;

/** Other objects, which say whom they concern: made by {@link related}. */
export interface RelatedSource {
  readonly informer: Source;
  /** Which objects are to be reconciled when this one, of a key of its own, changes; of a change, both what was and what is are asked. */
  readonly key: (object: KubeObject, key: ObjectKey) => ObjectKey | readonly ObjectKey[];
}

/** A source of related objects: `related(informer, ownerKeys(Todo))`. controller-runtime's `Owns` and `Watches`. */
export function related<T extends KubeObject>(
  informer: Source<T>,
  key: (object: T, key: ObjectKey) => ObjectKey | readonly ObjectKey[],
): RelatedSource {
  return { informer: informer as unknown as Source, key: (object, own) => key(object as T, own) };
}

/** What a reconcile is told besides the key. */
export interface ReconcileContext {
  /** Aborts when time is up, the controller ends, or the object's cluster is gone: give it to every call. */
  readonly signal: AbortSignal;
  /** 1, and one more after each failure. */
  readonly attempt: number;
}

/** When it is to be done again, though nothing changes, ms. */
export interface ReconcileResult {
  readonly requeueAfter?: number;
}

/** A reconcile that failed. */
export interface ReconcileFailure {
  readonly controller: string;
  readonly error: unknown;
  /** None where a source failed. */
  readonly key?: ObjectKey;
  readonly attempt: number;
  /** When it is tried again, ms; none if it is not. */
  readonly retryAfter?: number;
}

/** What a {@link controller} is made of. */
export interface ControllerOptions<T extends KubeObject> {
  /** Names it in what it reports. */
  readonly name: string;
  readonly sources: readonly ControllerSource<T>[];
  /**
   * Makes the world as the object says. Told whenever something of it may have changed, once for many changes, never twice
   * at a time for one key, and again at any time: what it does must be harmless when done again. A deleted object is
   * `undefined`, also one that was never there.
   */
  readonly reconcile: (
    key: ObjectKey,
    context: ReconcileContext & { readonly object: T | undefined },
    // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is one too
  ) => Promise<ReconcileResult | void> | ReconcileResult | void;
  /**
   * The last that is told of an object whose cluster is disengaged, after work on it has ended: release what is held for
   * it here, and leave the world alone, since it was not deleted. If it fails it is told again, as
   * reconciles are.
   *
   * @default such keys are dropped
   */
  readonly gone?: (key: ObjectKey, context: ReconcileContext) => Promise<void> | void;
  /** Told of every failure but conflicts, which are tried again without a word. Without a report they would be invisible. */
  readonly onError: (failure: ReconcileFailure) => void;
  /** How many keys are worked on at a time (`MaxConcurrentReconciles`). @default 1 */
  readonly workers?: number;
  /** After how long the signal of a reconcile aborts, ms (`ReconciliationTimeout`). @default Infinity */
  readonly timeout?: number;
  /** How long work under way may take at the end before its signal aborts, ms. @default 30,000 */
  readonly grace?: number;
  readonly rateLimit?: RateLimitOptions;
  /** Stops the controller. */
  readonly signal?: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
}
