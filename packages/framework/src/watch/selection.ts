import {
  type FieldSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
} from "@virtual-workspaces/apimachinery/selectors";
import type { Scope, Storage } from "../storage.ts";
import type { CacheEvent, EventType } from "./cache/cache-event.ts";
import type { Encoded } from "./cache/encoded.ts";

/** Which objects of a cache a request wants: by logical cluster, namespace and selectors. */
export class Selection {
  readonly cluster: string;
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Equal text, equal selection: such watches share their bytes. */
  readonly key: string;

  /** The one name wanted, "" for any. */
  readonly name: string;

  constructor(scope: Pick<Scope, "cluster" | "namespace" | "labels" | "fields"> & { readonly name?: string }) {
    this.cluster = scope.cluster === "*" ? "" : scope.cluster;
    this.namespace = scope.namespace;
    this.labels = scope.labels;
    this.fields = scope.fields;
    this.name = scope.name ?? "";
    this.key = JSON.stringify([
      this.cluster,
      this.namespace,
      this.name,
      this.labels.toString(),
      this.fields.toString(),
    ]);
  }

  /** Whether it leaves out objects of the same cluster and namespace. */
  get isSelective(): boolean {
    return this.name !== "" || !this.labels.empty || !this.fields.empty;
  }

  matches(object: Encoded): boolean {
    const { key } = object;
    return (
      (this.cluster === "" || key.cluster === this.cluster) &&
      (this.namespace === "" || key.namespace === this.namespace) &&
      (this.name === "" || key.name === this.name) &&
      (this.labels.empty || this.labels.matches(object.labels)) &&
      (this.fields.empty || this.fields.matches(object.fields))
    );
  }

  /**
   * What a change is to this selection: an object that enters is ADDED, one that leaves DELETED, whatever happened to
   * it at its source; one that was replaced by another of the same name is both.
   */
  steps(event: CacheEvent): readonly Step[] {
    const was = event.previous !== undefined && this.matches(event.previous);
    const is = event.object !== undefined && this.matches(event.object);
    if (was && is) return event.previous?.uid === event.object?.uid ? MODIFIED : REPLACED;
    if (was) return DELETED;
    return is ? ADDED : NOTHING;
  }
}

export type Step = EventType;

const NOTHING: readonly Step[] = [];
const ADDED: readonly Step[] = ["ADDED"];
const MODIFIED: readonly Step[] = ["MODIFIED"];
const DELETED: readonly Step[] = ["DELETED"];
const REPLACED: readonly Step[] = ["DELETED", "ADDED"];

/** Selects whatever there is. */
export const everything: Selection = new Selection({
  cluster: "",
  namespace: "",
  labels: parseLabelSelector(""),
  fields: parseFieldSelector(""),
});

/**
 * Who may read the same stream of a source, as text. What the source says, and when it says nothing, the identity: a
 * stream is then shared only among requests of one and the same caller.
 */
export function shareOf(source: Pick<Storage, "shareKey">, scope: Scope): string {
  const { name, uid, groups, extra } = scope.identity;
  return JSON.stringify(source.shareKey?.(scope) ?? [name, uid, groups, extra]);
}

/** The scope of a stream that everybody with the same share key can use: nothing is left out of it. */
export function widened(scope: Scope): Scope {
  return { ...scope, namespace: "", labels: everything.labels, fields: everything.fields };
}
