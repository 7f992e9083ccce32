import { ApiError } from "./api-error.ts";
import type { GroupVersion } from "./meta.ts";

/**
 * The group and version of an `apiVersion`, as schema.ParseGroupVersion: "" gives empty parts, `v1` is the core group.
 * @throws ApiError 400 when there is more than one slash.
 */
export function parseApiVersion(text: string): GroupVersion {
  if (text === "" || text === "/") return { group: "", version: "" };
  const slash = text.indexOf("/");
  if (slash < 0) return { group: "", version: text };
  if (text.includes("/", slash + 1)) throw ApiError.badRequest(`unexpected GroupVersion string: ${text}`);
  return { group: text.slice(0, slash), version: text.slice(slash + 1) };
}
