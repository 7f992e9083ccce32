import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "@virtual-workspaces/framework";
import type { Place } from "../tokens/names.ts";

/** Of which kind an object is that these controllers keep, as its resource is called. */
export type KeptResource = "configmaps" | "secrets" | "serviceaccounts";

/** An object's place, and of which kind it is. */
export interface KeptKey extends Place {
  readonly resource: KeptResource;
}

/** What these controllers do with objects. Their writes are the server's own: no rule is asked whether they may. */
export interface KeptObjects {
  /** As it is now: a Secret is removed because its account is not there. */
  get(key: KeptKey): Awaitable<KubeObject | undefined>;
  /** @throws ApiError `AlreadyExists`; 404 or 403 where the namespace is gone, or going */
  create(key: KeptKey, object: KubeObject): Awaitable<unknown>;
  /** @throws ApiError `Conflict`, 404 */
  update(key: KeptKey, object: KubeObject): Awaitable<unknown>;
  /** Of that uid and version only. @throws ApiError `Conflict`, 404 */
  delete(key: KeptKey, preconditions: { readonly uid: string; readonly resourceVersion: string }): Awaitable<unknown>;
}

/** Whether anything may still be made in a namespace. */
export function isActive({ metadata, ...rest }: KubeObject): boolean {
  const { phase } = (rest["status"] ?? {}) as { readonly phase?: unknown };
  return metadata.deletionTimestamp === undefined && phase !== "Terminating";
}
