import {
  ApiError,
  apiVersionOf,
  isApiError,
  isJsonObject,
  type JsonObject,
  type KindReference,
  type ListMeta,
  type ObjectOf,
} from "@virtual-workspaces/apimachinery";
import { malformed } from "../http/answer.ts";
import type { AllOptions, ListOptions } from "./call-options.ts";
import { called } from "./resource-requests.ts";

/** A list as the server gave it, or a page of one. */
export interface ResourceList<T> {
  /** As the server calls it, where it does. */
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ListMeta;
  readonly items: ObjectOf<T>[];
}

/** A list of all pages. */
export interface WholeList<T> extends ResourceList<T> {
  /**
   * Whether it is what there was at one moment, `metadata.resourceVersion`. Not so where the server had forgotten that moment
   * before the last page: then objects may be missing that were renamed meanwhile, and there is no version to watch from.
   */
  readonly consistent: boolean;
}

/** @throws TransportError `malformed` on what is no list */
export function expectList<T>(answer: JsonObject, kind: KindReference<T>, path: string): ResourceList<T> {
  const { apiVersion: version, kind: name, metadata, items } = answer;
  if (!String(answer["kind"]).endsWith("List") || !(items === null || Array.isArray(items)))
    throw malformed(path.split("?", 1)[0] ?? "", `the answer is ${called(answer)} instead of a list of ${kind.kind}`);
  // A list without items is `null` where a server in Go has none.
  const objects = (items ?? []) as ObjectOf<T>[];
  const apiVersion = apiVersionOf(kind);
  for (const item of objects) {
    if (!isJsonObject(item)) throw malformed(path.split("?", 1)[0] ?? "", "an item of the list is no object");
    // Items of a list of a built-in kind do not say what they are.
    Object.assign(item, {
      apiVersion: item.apiVersion ?? apiVersion,
      kind: item.kind ?? kind.kind,
      metadata: item.metadata ?? {},
    });
  }
  // An informer looks at what it is a list of: an empty one of something else would be the end of all it has.
  return {
    ...(typeof version === "string" && { apiVersion: version }),
    ...(typeof name === "string" && { kind: name }),
    metadata: isJsonObject(metadata) ? metadata : {},
    items: objects,
  };
}

/** How many objects a page has. */
const PAGE = 500;

/** All pages of a list; held in memory whole. */
export async function allPages<T>(
  list: (options: ListOptions) => Promise<ResourceList<T>>,
  { whenExpired = "continue", resourceVersion, resourceVersionMatch, limit = PAGE, ...options }: AllOptions,
): Promise<WholeList<T>> {
  const version = {
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(resourceVersionMatch && { resourceVersionMatch }),
  };
  const items: ObjectOf<T>[] = [];
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
    if (page.metadata.continue === token) throw ApiError.internalError(`the server gave the same continue token twice`);
  }
}

/** The token with which to go on regardless; "" if there is none, `undefined` if it is another error. */
function expiredToken(error: unknown): string | undefined {
  if (!isApiError(error) || error.code !== 410) return undefined;
  return error.status.metadata?.continue ?? "";
}
