import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";

/** An entry of a list, as a field manager has applied it. */
export interface AppliedEntry {
  readonly url: string;
  readonly manager: string;
  /** The members that are the manager's. */
  readonly members: readonly string[];
}

/**
 * Which of the URLs in a list of an object's status were put there by server-side apply, and by whom: URL to field managers, from
 * `metadata.managedFields`. The list is one of entries with the key `url`, as `endpoints` of an APIExportEndpointSlice. What
 * was written in another way is nobody's.
 *
 * @param field name of the list
 */
export function appliedURLs(object: KubeObject, field: string): Map<string, readonly string[]> {
  const owners = new Map<string, readonly string[]>();
  for (const { url, manager } of appliedEntries(object, field)) owners.set(url, [...(owners.get(url) ?? []), manager]);
  return owners;
}

/** The same with all that is known of them. */
export function appliedEntries({ metadata }: KubeObject, field: string): AppliedEntry[] {
  return (metadata.managedFields ?? []).flatMap(({ manager = "", operation, subresource, fieldsV1 }) => {
    if (operation !== "Apply" || subresource !== "status") return [];
    const list = memberOf(memberOf(fieldsV1, "f:status"), `f:${field}`);
    return entriesOf(list).map((entry) => ({ ...entry, manager }));
  });
}

/** Whether a field manager owns a list of an object's status that is one value. */
export function hasWritten({ metadata }: KubeObject, field: string, manager: string): boolean {
  return (metadata.managedFields ?? []).some(
    (entry) =>
      entry.manager === manager &&
      entry.subresource === "status" &&
      memberOf(memberOf(entry.fieldsV1, "f:status"), `f:${field}`) !== undefined,
  );
}

/** A list with keys is `{ "k:{\"url\":\"…\"}": { "f:url": {}, … } }` there. */
function entriesOf(list: unknown): { readonly url: string; readonly members: readonly string[] }[] {
  if (!isJsonObject(list)) return [];
  return Object.entries(list).flatMap(([key, node]) => {
    const url = key.startsWith("k:") ? memberOf(parsed(key.slice(2)), "url") : undefined;
    if (typeof url !== "string" || !isJsonObject(node)) return [];
    const members = Object.keys(node).flatMap((name) => (name.startsWith("f:") ? [name.slice(2)] : []));
    return [{ url, members }];
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
