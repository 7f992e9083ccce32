import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, isJsonObject, type KindReference, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";
import type { Condition } from "../conditions/condition.ts";
import { deleteCondition, markFalse, markTrue } from "../conditions/set.ts";
import { appliedEntries, hasWritten } from "./applied-urls.ts";
import type { PublishedEndpoint } from "./options.ts";

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

interface Judged {
  readonly condition: string;
  readonly wanted: WantedList;
  readonly now: () => Date;
}

function conditionsAfter(conditions: Condition[] | undefined, { condition, wanted, now }: Judged): Condition[] {
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
