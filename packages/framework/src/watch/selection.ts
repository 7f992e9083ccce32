import {
  type FieldSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
  type ShardSelector,
} from "@virtual-workspaces/apimachinery/selectors";
import type { Scope, Storage } from "../storage.ts";
import type { CacheEvent, EventType } from "./cache/cache-event.ts";
import type { Encoded } from "./cache/encoded.ts";

/** Selection of objects in a cache by logical cluster, namespace, selectors and shard. */
export class Selection {
  readonly cluster: string;
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Share of the objects; `undefined` for all. */
  readonly shard: ShardSelector | undefined;
  /** Text that is equal for equal selections, whose watches share their bytes. */
  readonly key: string;

  /** Name of the only object, "" for any. */
  readonly name: string;
  readonly #entered: readonly Step[];

  constructor(scope: SelectionOptions) {
    this.cluster = scope.cluster === "*" ? "" : scope.cluster;
    this.namespace = scope.namespace;
    this.labels = scope.labels;
    this.fields = scope.fields;
    this.shard = scope.shard;
    this.name = scope.name ?? "";
    const { entering = "ADDED" } = scope;
    this.#entered = entering === "ADDED" ? ADDED : MODIFIED;
    this.key = JSON.stringify([
      entering,
      this.cluster,
      this.namespace,
      this.name,
      this.labels.toString(),
      this.fields.toString(),
      this.shard?.toString(),
    ]);
  }

  /** Whether it leaves out objects of the same logical cluster and namespace. */
  get isSelective(): boolean {
    return this.name !== "" || !this.labels.empty || !this.fields.empty || this.shard !== undefined;
  }

  /** Whether an object is in the selected shard; the other criteria are not checked. */
  inShard({ uid, key }: Encoded): boolean {
    return this.shard === undefined || this.shard.matches({ uid, namespace: key.namespace });
  }

  matches(object: Encoded): boolean {
    const { key } = object;
    return (
      (this.cluster === "" || key.cluster === this.cluster) &&
      (this.namespace === "" || key.namespace === this.namespace) &&
      (this.name === "" || key.name === this.name) &&
      (this.labels.empty || this.labels.matches(object.labels)) &&
      (this.fields.empty || this.fields.matches(object.fields)) &&
      (this.shard === undefined || this.inShard(object))
    );
  }

  /**
   * Returns the events of a change for this selection: ADDED for an object that enters, DELETED for one that leaves, whatever
   * happened at the source. An object that was replaced by another of its name gets both. An object that is new in the cache
   * enters with `entering`.
   */
  steps(event: CacheEvent): readonly Step[] {
    const was = event.previous !== undefined && this.matches(event.previous);
    const is = event.object !== undefined && this.matches(event.object);
    if (was && is) return event.isReplaced ? REPLACED : MODIFIED;
    if (was) return DELETED;
    if (!is) return NOTHING;
    return event.previous === undefined ? this.#entered : ADDED;
  }
}

/** Options of a {@link Selection}. */
export interface SelectionOptions extends Pick<Scope, "cluster" | "namespace" | "labels" | "fields"> {
  /** Name of the only object. @default "", any */
  readonly name?: string;
  /** As `ServeOptions.entering`. @default "ADDED" */
  readonly entering?: "ADDED" | "MODIFIED" | undefined;
  /** Share of the objects. @default all */
  readonly shard?: ShardSelector | undefined;
}

export type Step = EventType;

const NOTHING: readonly Step[] = [];
const ADDED: readonly Step[] = ["ADDED"];
const MODIFIED: readonly Step[] = ["MODIFIED"];
const DELETED: readonly Step[] = ["DELETED"];
const REPLACED: readonly Step[] = ["DELETED", "ADDED"];

/** Selects all objects. */
export const everything: Selection = new Selection({
  cluster: "",
  namespace: "",
  labels: parseLabelSelector(""),
  fields: parseFieldSelector(""),
});

/**
 * Returns the key of callers that may share a stream of a source. Security: if the source returns none, it is the identity,
 * so that only requests of one caller share a stream.
 */
export function shareOf(source: Pick<Storage, "shareKey">, scope: Scope): string {
  const { name, uid, groups, extra } = scope.identity;
  return JSON.stringify(source.shareKey?.(scope) ?? [name, uid, groups, extra]);
}

/** Returns the scope of a stream that all callers with the same share key can use: without a selection. */
export function widened(scope: Scope): Scope {
  return { ...scope, namespace: "", labels: everything.labels, fields: everything.fields };
}
