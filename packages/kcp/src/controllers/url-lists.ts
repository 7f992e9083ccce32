import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, isJsonObject, type KindReference, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";
import { type Condition, deleteCondition, markFalse, markTrue } from "../conditions.ts";
import type { PublishedEndpoint } from "./publish-options.ts";

/** What an object's list is to be; what went wrong instead of it. */
export type WantedList = readonly PublishedEndpoint[] | { readonly error: unknown };

/** How the list of an object is read and written. */
export interface URLList {
  /** What is to be sent so that it is as wanted; `undefined` when it is. */
  change(object: KubeObject, wanted: WantedList): object | undefined;
  send(resource: ResourceClient, body: object, signal: AbortSignal): Promise<unknown>;
  /** Takes back what other managers have put there who will not do it any more. */
  release(resource: ResourceClient, object: KubeObject, given: Released): Promise<void>;
}

/** Whose entries go. */
export interface Released {
  readonly managers: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Which list, and whose. */
export interface ListOptions {
  readonly kind: Pick<KindReference<object>, "group" | "version" | "kind">;
  readonly field: string;
  readonly manager: string;
  readonly condition?: string | undefined;
  readonly now: () => Date;
}

/**
 * A list with the key `url`, of which a manager has its entries. Applied is all that the manager wants: what it no longer names
 * goes, unless others have it too.
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

/** A list that is one value. Its object is replaced as it was seen: 409 when that is no longer how it is. */
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
    release: async () => undefined, // who writes it writes all of it
  };
}

/** Somebody else has written the list since: there is nothing of ours to take back. Where owners are not kept it counts as ours. */
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

/** An entry of a list, as a field manager has applied it. */
interface AppliedEntry {
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
function appliedEntries({ metadata }: KubeObject, field: string): AppliedEntry[] {
  return (metadata.managedFields ?? []).flatMap(({ manager = "", operation, subresource, fieldsV1 }) => {
    if (operation !== "Apply" || subresource !== "status") return [];
    const list = memberOf(memberOf(fieldsV1, "f:status"), `f:${field}`);
    return entriesOf(list).map((entry) => ({ ...entry, manager }));
  });
}

/** Whether a field manager owns a list of an object's status that is one value. */
function hasWritten({ metadata }: KubeObject, field: string, manager: string): boolean {
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

/**
 * The entries as they are written: each URL once, sorted by it, so that what means the same is the same.
 *
 * @throws Error on what no follower takes for a URL
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
      `${JSON.stringify(text.slice(0, 200))} is published as a URL: give one of http or https, without user, query and fragment`,
    );
}
