import {
  FOREGROUND_FINALIZER,
  formatTime,
  type KubeObject,
  type ObjectMeta,
  ORPHAN_FINALIZER,
} from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import type { Strategy } from "../definition.ts";

/** Result of a delete. */
export type Deletion =
  /** The object is removed now, since nothing blocks the removal. */
  | { readonly kind: "remove" }
  /** The object is marked, and removed when nothing blocks the removal any more. */
  | { readonly kind: "mark"; readonly object: KubeObject }
  /** The object is being deleted already, and not later than requested. */
  | { readonly kind: "pending" };

/** Rules of a deletion besides the object. */
export interface DeletionRules {
  readonly now: Date;
  readonly garbageCollected: boolean;
  /** Grace period of the kind, in seconds; 0 for none. */
  readonly gracePeriodSeconds: number;
  readonly strategy?: Strategy | undefined;
}

/** Decides what a delete does to an object (Kubernetes' BeforeDelete and its finalizers). */
export function decideDeletion(object: KubeObject, options: DeleteQuery, rules: DeletionRules): Deletion {
  const marked = withGrace(object, options, rules);
  if (marked === "pending") return { kind: "pending" };
  const finalizers = rules.garbageCollected ? collectorFinalizers(object.metadata, options) : finalizersOf(object);
  if (marked === undefined && finalizers.length === 0 && rules.strategy?.isHeld?.(object) !== true)
    return { kind: "remove" };
  const metadata = marked?.metadata ?? markedNow(object.metadata, rules.now);
  const next = { ...object, metadata: withFinalizers(metadata, finalizers) };
  rules.strategy?.marked?.(next);
  return { kind: "mark", object: next };
}

/** Whether an update removes the last block from an object that is being deleted. */
export function isReleased(
  next: KubeObject,
  before: KubeObject,
  { strategy }: { readonly strategy?: Strategy | undefined } = {},
): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = before.metadata;
  if (strategy?.isHeld?.(next) === true) return false;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizersOf(next).length === 0;
}

function finalizersOf({ metadata }: KubeObject): readonly string[] {
  return metadata.finalizers ?? [];
}

function withFinalizers(metadata: ObjectMeta, finalizers: readonly string[]): ObjectMeta {
  const { finalizers: _before, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...rest, finalizers: [...finalizers] };
}

/** Marks an object whose kind has a grace period; `undefined` when there is none or it is over. */
function withGrace(object: KubeObject, options: DeleteQuery, rules: DeletionRules): KubeObject | "pending" | undefined {
  const { metadata } = object;
  const asked = options.gracePeriodSeconds ?? rules.gracePeriodSeconds;
  const left = metadata.deletionGracePeriodSeconds ?? 0;
  if (rules.gracePeriodSeconds === 0 && left === 0) return undefined;
  if (metadata.deletionTimestamp === undefined) {
    if (asked === 0) return undefined;
    return { ...object, metadata: graceful(metadata, Date.parse(formatTime(rules.now)) + asked * 1000, asked) };
  }
  if (left === 0) return undefined;
  if (options.gracePeriodSeconds === undefined || asked >= left) return "pending";
  if (asked === 0) return undefined;
  const sooner = Date.parse(metadata.deletionTimestamp) + (asked - left) * 1000;
  const past = sooner < rules.now.getTime();
  return { ...object, metadata: graceful(metadata, past ? rules.now.getTime() : sooner, past ? 1 : asked) };
}

/** Last second that a Kubernetes time can express. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59);

function graceful(metadata: ObjectMeta, at: number, seconds: number): ObjectMeta {
  return {
    ...metadata,
    ...nextGeneration(metadata),
    deletionTimestamp: formatTime(new Date(Math.min(at, LAST))),
    deletionGracePeriodSeconds: seconds,
  };
}

function markedNow(metadata: ObjectMeta, now: Date): ObjectMeta {
  const { deletionTimestamp: before } = metadata;
  const later = before === undefined || Date.parse(before) > now.getTime();
  return {
    ...metadata,
    ...nextGeneration(metadata),
    deletionTimestamp: later ? formatTime(now) : before,
    deletionGracePeriodSeconds: 0,
  };
}

/** Increments the generation once: controllers must act on the deletion. */
function nextGeneration({ deletionTimestamp, generation }: ObjectMeta): ObjectMeta {
  return deletionTimestamp === undefined && generation !== undefined ? { generation: generation + 1 } : {};
}

/** Returns the finalizers by which the garbage collector does what the client, or otherwise the object, demands. */
function collectorFinalizers(metadata: ObjectMeta, options: DeleteQuery): readonly string[] {
  const own = metadata.finalizers ?? [];
  const rest = own.filter((finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_FINALIZER);
  const wanted = collectorFinalizer(own, options);
  return wanted === undefined ? rest : [...rest, wanted];
}

function collectorFinalizer(own: readonly string[], options: DeleteQuery): string | undefined {
  const { orphanDependents, propagationPolicy } = options;
  if (orphanDependents !== undefined) return orphanDependents ? ORPHAN_FINALIZER : undefined;
  if (propagationPolicy === "Orphan") return ORPHAN_FINALIZER;
  if (propagationPolicy === "Foreground") return FOREGROUND_FINALIZER;
  if (propagationPolicy === "Background") return undefined;
  return own.find((finalizer) => finalizer === ORPHAN_FINALIZER || finalizer === FOREGROUND_FINALIZER);
}
