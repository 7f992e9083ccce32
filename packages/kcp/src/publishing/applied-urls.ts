import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";

/**
 * Which of the URLs in a list of an object's status were put there by server-side apply, and by whom: URL to field managers, from
 * `metadata.managedFields`. The list is one of entries with the key `url`, as `endpoints` of an APIExportEndpointSlice. What
 * was written in another way is nobody's.
 *
 * @param field name of the list
 */
export function appliedURLs({ metadata }: KubeObject, field: string): Map<string, readonly string[]> {
  const owners = new Map<string, readonly string[]>();
  for (const { manager = "", operation, subresource, fieldsV1 } of metadata.managedFields ?? []) {
    if (operation !== "Apply" || subresource !== "status") continue;
    for (const url of urlsIn(memberOf(memberOf(fieldsV1, "f:status"), `f:${field}`)))
      owners.set(url, [...(owners.get(url) ?? []), manager]);
  }
  return owners;
}

/** A list with keys is `{ "k:{\"url\":\"…\"}": { … } }` there. */
function urlsIn(list: unknown): string[] {
  if (!isJsonObject(list)) return [];
  return Object.keys(list).flatMap((key) => {
    if (!key.startsWith("k:")) return [];
    const url = memberOf(parsed(key.slice(2)), "url");
    return typeof url === "string" ? [url] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
