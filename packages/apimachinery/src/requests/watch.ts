import type { Status } from "../meta/status.ts";
import type { KubeObject } from "../meta/types.ts";

/** Type of a watch event (watch.EventType). */
export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/** Line of a watch (metav1.WatchEvent): `type` determines the type of `object`. */
export type WatchEvent<T = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };

/** Annotation of the bookmark that ends the initial events of a watch with `sendInitialEvents` (metav1). */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** Options of {@link bookmarkObject}. */
export interface BookmarkOptions {
  readonly apiVersion: string;
  readonly kind: string;
  /** Every change up to this version has been sent. */
  readonly resourceVersion: string;
  /** Whether this bookmark ends the initial events. Default: no. */
  readonly initialEventsEnd?: boolean | undefined;
}

/** Returns the object of a BOOKMARK event: of the watched kind, with only a resource version. */
export function bookmarkObject(options: BookmarkOptions): KubeObject {
  const { apiVersion, kind, resourceVersion, initialEventsEnd = false } = options;
  const annotations = initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: "true" } } : {};
  return { kind, apiVersion, metadata: { resourceVersion, ...annotations } };
}

const CANONICAL = /^[1-9][0-9]*$/;

/**
 * Orders two canonical resource versions: negative if `a` is older, 0 if equal. Compares decimal texts, by length and then by
 * characters, so that versions may exceed 2^53 (client-go's util/resourceversion).
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Whether a text is a canonical resource version: a positive decimal without leading zeros. "" (unset) and "0" (any version)
 * only occur in requests; callers must handle them first.
 */
export function isResourceVersion(text: string): boolean {
  return CANONICAL.test(text);
}
