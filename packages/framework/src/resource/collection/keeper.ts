import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "../../watch/cache/encoded.ts";
import type { Awaitable } from "../../storage.ts";

/** On what terms an object is swapped for another. */
export interface SwapTerms {
  /** The resource version at which the key must stand; "": there must be nothing. */
  readonly version: string;
  /** How many bytes the new object may have. */
  readonly most: number;
}

/** How a swap went. */
export type Swapped =
  /** Done, at a version; `object` as it is kept now, `undefined` when it was removed. */
  | { readonly kind: "done"; readonly version: string; readonly object: Encoded | undefined }
  /** The key stands at another version. Nothing was done. */
  | { readonly kind: "stale"; readonly current: Encoded | undefined }
  /** It would have more bytes than it may. Nothing was done. */
  | { readonly kind: "large"; readonly length: number };

/** Where the objects of a kind are: one under each key, at a resource version that the keeper mints. */
export interface Keeper {
  /** What is there now, no staler. */
  get(key: ObjectKey): Awaitable<Encoded | undefined>;
  /** All of one logical cluster ("" where paths have none) and, for namespaced kinds, one namespace, by name. */
  all(part: Omit<ObjectKey, "name">): Awaitable<Iterable<Encoded>>;
  /** Puts an object in the place of another, `undefined` to remove it. The version that `next` names is not looked at. */
  swap(key: ObjectKey, next: KubeObject | undefined, terms: SwapTerms): Awaitable<Swapped>;
}
