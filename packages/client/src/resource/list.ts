import {
  ApiError,
  apiVersionOf,
  isApiError,
  isJsonObject,
  type JsonObject,
  type KindReference,
  type ListMeta,
  type StoredObject,
} from "@virtual-workspaces/apimachinery";
import { malformed } from "../http/answer.ts";
import type { AllOptions, ListOptions } from "./call-options.ts";
import { called } from "./resource-requests.ts";

/** List of a server, or one page. */
export interface ResourceList<T> {
  /** API version of the list, if the server sends one. */
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ListMeta;
  readonly items: StoredObject<T>[];
}

/** List of all pages. */
export interface WholeList<T> extends ResourceList<T> {
  /**
   * Whether all pages show the same version, `metadata.resourceVersion`. False if that version expired before the last page:
   * objects renamed in between may be missing, and there is no version from which to watch.
   */
  readonly consistent: boolean;
}

/** @throws TransportError `malformed` if the response is not a list */
export function expectList<T>(answer: JsonObject, kind: KindReference<T>, path: string): ResourceList<T> {
  const { apiVersion: version, kind: name, metadata, items } = answer;
  if (!String(answer["kind"]).endsWith("List") || !(items === null || Array.isArray(items)))
    throw malformed(path.split("?", 1)[0] ?? "", `the response is ${called(answer)} instead of a list of ${kind.kind}`);
  // Servers written in Go may send an empty list as `null`.
  const objects = (items ?? []) as StoredObject<T>[];
  const apiVersion = apiVersionOf(kind);
  for (const item of objects) {
    if (!isJsonObject(item)) throw malformed(path.split("?", 1)[0] ?? "", "an item of the list is not an object");
    // Servers omit kind and apiVersion of the items of built-in kinds.
    Object.assign(item, {
      apiVersion: item.apiVersion ?? apiVersion,
      kind: item.kind ?? kind.kind,
      metadata: item.metadata ?? {},
    });
  }
  // An informer needs the kind: an empty list of another kind would delete all its objects.
  return {
    ...(typeof version === "string" && { apiVersion: version }),
    ...(typeof name === "string" && { kind: name }),
    metadata: isJsonObject(metadata) ? metadata : {},
    items: objects,
  };
}

/** Default number of objects per page. */
const PAGE = 500;

/** Lists all pages into memory. */
export async function allPages<T>(
  list: (options: ListOptions) => Promise<ResourceList<T>>,
  { whenExpired = "continue", resourceVersion, resourceVersionMatch, limit = PAGE, ...options }: AllOptions,
): Promise<WholeList<T>> {
  const version = {
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(resourceVersionMatch && { resourceVersionMatch }),
  };
  const items: StoredObject<T>[] = [];
  let page = await list({ ...options, ...version, limit });
  let consistent = true;
  for (;;) {
    for (const item of page.items) items.push(item);
    const { continue: token = "", remainingItemCount: _rest, ...metadata } = page.metadata;
    if (token === "") {
      const { resourceVersion: _none, ...unversioned } = metadata;
      return { metadata: consistent ? metadata : unversioned, items, consistent };
    }
    try {
      page = await list({ ...options, limit, continue: token });
    } catch (error) {
      const next = expiredToken(error);
      if (next === undefined) throw error;
      if (whenExpired === "relist" || next === "")
        return { ...(await list({ ...options, ...version })), consistent: true };
      page = await list({ ...options, limit, continue: next });
      consistent = false;
    }
    if (page.metadata.continue === token) throw ApiError.internalError(`the server sent the same continue token twice`);
  }
}

/** Returns the token for an inconsistent continuation; "" if there is none, `undefined` for other errors. */
function expiredToken(error: unknown): string | undefined {
  if (!isApiError(error) || error.code !== 410) return undefined;
  return error.status.metadata?.continue ?? "";
}
