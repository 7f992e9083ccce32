import { apiVersionOf, isApiError } from "@virtual-workspaces/apimachinery";
import type { EncodedList } from "@virtual-workspaces/framework";
import type { UpstreamResource } from "./upstream-resource.ts";

/** The version of what the other server does not have: a watch from there begins with whatever there is by then. */
export const UNSERVED_VERSION = "0";

/** What a list of the kind comes to while the other server does not have the kind. @throws the error, where that is refused */
export function emptyIfUnserved(error: unknown, { definition, isEmptyUnserved }: UpstreamResource): EncodedList {
  if (!isEmptyUnserved || !isUnserved(error)) throw error;
  const { listKind: kind } = definition;
  const metadata = { resourceVersion: UNSERVED_VERSION };
  return { body: Buffer.from(JSON.stringify({ apiVersion: apiVersionOf(definition), kind, metadata, items: [] })) };
}

/** Whether the other server says that there is no such kind: a list of one that there is is never missing. */
export function isUnserved(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}
