import type { Status } from "../meta/status.ts";
import type { KubeObject } from "../meta/types.ts";

/** What a watch event tells (watch.EventType). */
export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/** One line of a watch (metav1.WatchEvent): its `type` decides what `object` is. */
export type WatchEvent<T = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };

/** Annotation of the bookmark that ends the initial events of a watch with `sendInitialEvents` (metav1). */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** What a bookmark says: {@link bookmarkObject}. */
export interface BookmarkOptions {
  readonly apiVersion: string;
  readonly kind: string;
  /** Every change up to this version has been sent. */
  readonly resourceVersion: string;
  /** Whether this bookmark ends the initial events. Default: no. */
  readonly initialEventsEnd?: boolean | undefined;
}

/** The object of a BOOKMARK event: of the watched kind, with nothing but a resource version. */
export function bookmarkObject(options: BookmarkOptions): KubeObject {
  const { apiVersion, kind, resourceVersion, initialEventsEnd = false } = options;
  const annotations = initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: "true" } } : {};
  return { kind, apiVersion, metadata: { resourceVersion, ...annotations } };
}

const CANONICAL = /^[1-9][0-9]*$/;

/**
 * The order of two canonical resource versions: negative when `a` is older, 0 when equal. Compared as decimal texts,
 * by length and then by characters, so that they may exceed 2^53 (client-go's util/resourceversion).
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Whether a text is a canonical resource version: a positive decimal without leading zeros. "" (unset) and "0" (any
 * version) are requests, not versions, and are for the caller to tell apart first.
 */
export function isResourceVersion(text: string): boolean {
  return CANONICAL.test(text);
}
