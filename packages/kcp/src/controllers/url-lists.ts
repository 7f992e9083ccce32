import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, isJsonObject, type KindReference, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";
import { type Condition, deleteCondition, markFalse, markTrue } from "../conditions.ts";
import type { PublishedEndpoint } from "./publish-options.ts";

/** Desired list of an object, or the error of computing it. */
export type WantedList = readonly PublishedEndpoint[] | { readonly error: unknown };

/** Reads and writes the list of an object. */
export interface URLList {
  /** Returns the body to send so that the list becomes as wanted; `undefined` when it already is. */
  change(object: KubeObject, wanted: WantedList): object | undefined;
  send(resource: ResourceClient, body: object, signal: AbortSignal): Promise<unknown>;
  /** Removes the entries of other managers that no longer exist. */
  release(resource: ResourceClient, object: KubeObject, given: Released): Promise<void>;
}

/** Managers whose entries are removed. */
export interface Released {
  readonly managers: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** List to write, and its field manager. */
export interface ListOptions {
  readonly kind: Pick<KindReference<object>, "group" | "version" | "kind">;
  readonly field: string;
  readonly manager: string;
  readonly condition?: string | undefined;
  readonly now: () => Date;
}

/**
 * Returns a list with the key `url`, in which each manager owns entries. A manager applies all its entries: an entry that it no
 * longer applies is removed, unless another manager owns it too.
 */
export function keyedList({ kind, field, manager }: ListOptions): URLList {
  const named = ({ metadata: { name, namespace } }: KubeObject): KubeObject => ({
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: name ?? "", ...(namespace !== undefined && { namespace }) },
  });
  return {
    change: (object, wanted) => {
      if ("error" in wanted || isApplied(object, { field, manager, wanted })) return undefined;
      return { ...named(object), ...(wanted.length > 0 && { status: { [field]: wanted } }) };
    },
    send: (resource, body, signal) =>
      resource.status.apply(body as KubeObject, { fieldManager: manager, force: true, signal }),
    release: async (resource, object, { managers, signal }) => {
      const there = new Set(appliedEntries(object, field).map((entry) => entry.manager));
      there.delete(manager);
      for (const fieldManager of there.intersection(managers))
        await resource.status.apply(named(object), { fieldManager, force: true, signal });
    },
  };
}

interface Applied {
  readonly field: string;
  readonly manager: string;
  readonly wanted: readonly PublishedEndpoint[];
}

function isApplied(object: KubeObject, { field, manager, wanted }: Applied): boolean {
  const own = appliedEntries(object, field).filter((entry) => entry.manager === manager);
  if (own.length !== wanted.length) return false;
  const there = listOf(object, field);
  return wanted.every((entry) => {
    const members = own.find(({ url }) => url === entry.url)?.members ?? [];
    const found = there.find((one) => isJsonObject(one) && one["url"] === entry.url);
    const wants = Object.entries(entry).filter(([, value]) => value !== undefined);
    if (members.length !== wants.length || !isJsonObject(found)) return false;
    return wants.every(([name, value]) => members.includes(name) && isDeepStrictEqual(found[name], value));
  });
}

/** Returns a list that is one value. The write replaces the object as it was read, and gets 409 when the object has changed since. */
export function wholeList({ field, condition, manager, now }: ListOptions): URLList {
  return {
    change: (object, wanted) => {
      if (!("error" in wanted) && wanted.length === 0 && isOfOthers(object, field, manager)) return undefined;
      const before = isJsonObject(object.status) ? object.status : {};
      const status: Record<string, unknown> = { ...before };
      if (!("error" in wanted)) {
        if (wanted.length === 0) delete status[field];
        else status[field] = wanted;
      }
      if (condition !== undefined) {
        const conditions = conditionsAfter(before["conditions"] as Condition[] | undefined, { condition, wanted, now });
        if (conditions.length > 0 || before["conditions"] !== undefined) status["conditions"] = conditions;
      }
      return isDeepStrictEqual(status, before) ? undefined : { ...object, status };
    },
    send: (resource, body, signal) => resource.status.update(body as KubeObject, { fieldManager: manager, signal }),
    release: async () => undefined, // the writer owns the whole list
  };
}

/** Returns whether another manager has overwritten the list. Without recorded managers the list counts as ours. */
function isOfOthers(object: KubeObject, field: string, manager: string): boolean {
  const isOwned = (object.metadata.managedFields ?? []).length > 0;
  return isOwned && listOf(object, field).length > 0 && !hasWritten(object, field, manager);
}

interface ConditionOptions {
  readonly condition: string;
  readonly wanted: WantedList;
  readonly now: () => Date;
}

function conditionsAfter(
  conditions: Condition[] | undefined,
  { condition, wanted, now }: ConditionOptions,
): Condition[] {
  if (!("error" in wanted)) {
    return wanted.length === 0 ? deleteCondition(conditions, condition) : markTrue(conditions, condition, now());
  }
  const { error } = wanted;
  const message = error instanceof Error ? error.message : String(error);
  const fault = { type: condition, severity: "Error", reason: "ErrorGeneratingURLs", message } as const;
  return markFalse(conditions, fault, now());
}

function listOf({ status }: KubeObject, field: string): readonly unknown[] {
  const list = isJsonObject(status) ? status[field] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Entry of a list that a field manager has applied. */
interface AppliedEntry {
  readonly url: string;
  readonly manager: string;
  /** Fields of the entry that the manager owns. */
  readonly members: readonly string[];
}

/**
 * Returns the URLs in a list of an object's status that were set by server-side apply, with their field managers from
 * `metadata.managedFields`. The entries have the key `url`, such as `endpoints` of an APIExportEndpointSlice. URLs that were
 * written in another way are left out.
 *
 * @param field name of the list
 */
export function appliedURLs(object: KubeObject, field: string): Map<string, readonly string[]> {
  const owners = new Map<string, readonly string[]>();
  for (const { url, manager } of appliedEntries(object, field)) owners.set(url, [...(owners.get(url) ?? []), manager]);
  return owners;
}

/** Returns the applied entries with their managers and fields. */
function appliedEntries({ metadata }: KubeObject, field: string): AppliedEntry[] {
  return (metadata.managedFields ?? []).flatMap(({ manager = "", operation, subresource, fieldsV1 }) => {
    if (operation !== "Apply" || subresource !== "status") return [];
    const list = memberOf(memberOf(fieldsV1, "f:status"), `f:${field}`);
    return entriesOf(list).map((entry) => ({ ...entry, manager }));
  });
}

/** Returns whether a field manager owns a list in the status that is one value. */
function hasWritten({ metadata }: KubeObject, field: string, manager: string): boolean {
  return (metadata.managedFields ?? []).some(
    (entry) =>
      entry.manager === manager &&
      entry.subresource === "status" &&
      memberOf(memberOf(entry.fieldsV1, "f:status"), `f:${field}`) !== undefined,
  );
}

/** Reads the entries of a keyed list, which `fieldsV1` encodes as `{ "k:{\"url\":\"…\"}": { "f:url": {}, … } }`. */
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

/**
 * Returns the entries to write, without duplicate URLs and sorted by URL, so that equal lists compare as equal.
 *
 * @throws Error on a URL that clients would not accept
 */
export function wantedEntries(given: readonly (string | PublishedEndpoint)[]): PublishedEndpoint[] {
  const entries = new Map<string, PublishedEndpoint>();
  for (const one of given) {
    const entry = typeof one === "string" ? { url: one } : one;
    checkUrl(entry.url);
    entries.set(entry.url, entry);
  }
  return [...entries.values()].sort((one, other) => (one.url < other.url ? -1 : 1));
}

function checkUrl(text: string): void {
  const url = URL.parse(text);
  const isPlain =
    url !== null && `${url.username}${url.password}${url.search}${url.hash}` === "" && /^https?:$/.test(url.protocol);
  if (!isPlain)
    throw new Error(
      `cannot publish ${JSON.stringify(text.slice(0, 200))}: use an http or https URL without user, query and fragment`,
    );
}
