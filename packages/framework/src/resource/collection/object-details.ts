import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  apiVersionOf,
  CLUSTER_ANNOTATION,
  formatTime,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../../definition.ts";
import { contentOf } from "../../watch/cache/encoded.ts";

/** Metadata that an author may set on an object. */
export interface ObjectDetails {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Names that block the object's removal: a delete only marks it, and removing the last finalizer removes it. */
  readonly finalizers?: readonly string[];
}

/** The parts of an object that a write decides, without those that the collection sets. */
export interface Comparable {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly finalizers: readonly string[] | undefined;
  readonly content: object;
}

/** Merges an author's details with the metadata before the write; details that are not given stay. */
export function described(
  cluster: string,
  details: ObjectDetails,
  before: ObjectMeta | undefined,
): Omit<Comparable, "content"> {
  const owner = cluster === "" ? {} : { [CLUSTER_ANNOTATION]: cluster };
  const annotations = { ...(details.annotations ?? before?.annotations), ...owner };
  const finalizers = details.finalizers ?? before?.finalizers ?? [];
  return {
    labels: details.labels ?? before?.labels,
    annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
    finalizers: finalizers.length === 0 ? undefined : finalizers,
  };
}

/** Returns the same parts of an existing object. */
export function comparable(object: KubeObject): Comparable {
  const { labels, annotations, finalizers } = object.metadata;
  return { labels, annotations, finalizers, content: contentOf(object) };
}

/** Returns the spec of an object or content, or all of its content where it has no spec. */
export function specOf(object: object): unknown {
  return "spec" in object ? object.spec : "metadata" in object ? contentOf(object) : object;
}

/** Returns the object that an author's write results in, without a resource version; `before` is the object that it replaces. */
export function stamped(
  next: Comparable,
  before: KubeObject | undefined,
  { key, definition, now }: Minted,
): KubeObject {
  const { finalizers: _held, ...kept } = before?.metadata ?? {
    name: key.name,
    ...(key.namespace === "" ? {} : { namespace: key.namespace }),
    uid: randomUUID(),
    creationTimestamp: formatTime(now),
  };
  const { labels, annotations, finalizers, content } = next;
  const respecified = before === undefined || !isDeepStrictEqual(specOf(before), specOf(content));
  return {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    metadata: {
      ...kept,
      generation: (kept.generation ?? 0) + (respecified ? 1 : 0),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
    },
    ...content,
  };
}

interface Minted {
  readonly key: ObjectKey;
  readonly definition: ResourceDefinition;
  readonly now: Date;
}
