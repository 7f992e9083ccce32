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

/** What an author may say of an object besides its content. */
export interface ObjectDetails {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Who holds the object: it stays, marked, when it is deleted, and goes when the last of them is taken away. */
  readonly finalizers?: readonly string[];
}

/** What a write decides: everything of an object but what the collection mints. */
export interface Comparable {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly finalizers: readonly string[] | undefined;
  readonly content: object;
}

/** What an author's write makes of an object, but for its content: what is not said stays. */
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

/** The same of an object that is there. */
export function comparable(object: KubeObject): Comparable {
  const { labels, annotations, finalizers } = object.metadata;
  return { labels, annotations, finalizers, content: contentOf(object) };
}

/** What an object or a content wants: all of it where it has no spec. */
export function specOf(object: object): unknown {
  return "spec" in object ? object.spec : "metadata" in object ? contentOf(object) : object;
}

/** An author's write as the object that it becomes, but for its resource version; `before` is the one that it replaces. */
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
