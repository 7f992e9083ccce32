import { equalJson, type JsonObject, memberOf, setMember } from "../json/value.ts";
import {
  DEDUCED,
  elementOf,
  filledList,
  filledMap,
  formOf,
  type ListType,
  type MapType,
  memberType,
  type ValueType,
} from "./value-type.ts";

/**
 * Merges an applied value into the live one by its type: atomic values are replaced, all others merged. Shares unchanged
 * parts, and returns `live` itself if nothing changes.
 */
export function merge(live: unknown, applied: unknown, type: ValueType): unknown {
  if (applied === undefined || applied === live) return live;
  if (live === undefined) return applied;
  switch (formOf(type, applied)) {
    case "map":
      return type.map === undefined ? applied : mergeAsMap(live, applied, type.map);
    case "list":
      return type.list === undefined ? applied : mergeAsList(live, applied, type.list);
    case "scalar":
      return applied;
  }
}

/** Applying a null or empty object onto one with members changes nothing. */
function mergeAsMap(live: unknown, applied: unknown, type: MapType): unknown {
  const [left, right] = [filledMap(live), filledMap(applied)];
  if (type.atomic || left === undefined) return replace(live, applied);
  if (right === undefined) return left;
  let merged: JsonObject | undefined;
  for (const name of Object.keys(right)) {
    if (right[name] === undefined) continue;
    const before = memberOf(left, name);
    const after = merge(before, right[name], memberType(type, name) ?? DEDUCED);
    if (after === before) continue;
    merged ??= { ...left };
    setMember(merged, name, after);
  }
  return merged ?? left;
}

function mergeAsList(live: unknown, applied: unknown, type: ListType): unknown {
  const [left, right] = [filledList(live), filledList(applied)];
  if (type.atomic || left === undefined) return replace(live, applied);
  if (right === undefined) return left;
  const merged = mergeLists(byElement(left, type), byElement(right, type), type.element);
  return merged.length === left.length && merged.every((item, at) => item === left[at]) ? left : merged;
}

function replace(live: unknown, applied: unknown): unknown {
  return equalJson(live, applied) ? live : applied;
}

interface NamedList {
  readonly items: readonly { readonly element: string; readonly item: unknown }[];
  /** Values by element name; undefined for names that the list holds more than once. */
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * Merges two lists. Shared elements take the order of the applied list; elements of the live list alone stay behind their
 * predecessors. Among the possible orders this picks Kubernetes', element for element.
 */
function mergeLists(live: NamedList, applied: NamedList, type: ValueType): unknown[] {
  const merged: unknown[] = [];
  const taken = new Set<string>();
  const shared = applied.items.filter(({ element }) => live.values.has(element));
  let expected = 0;
  let at = 0;
  let other = 0;
  while (at < live.items.length || other < applied.items.length) {
    const mine = live.items[at];
    const theirs = applied.items[other];
    const isShared = mine !== undefined && applied.values.has(mine.element);
    if (mine !== undefined && !isShared) {
      merged.push(mine.item);
      at += 1;
      continue;
    }
    const isSame = mine !== undefined && mine.element === theirs?.element;
    const next = shared[expected]?.element;
    if (mine !== undefined && theirs !== undefined && !isSame && next !== undefined && next !== mine.element) {
      at += 1; // Inserted at its position in the applied list.
      continue;
    }
    if (mine !== undefined && (isSame || taken.has(mine.element))) at += 1;
    if (theirs === undefined) continue;
    merged.push(merge(live.values.get(theirs.element), theirs.item, type));
    taken.add(theirs.element);
    other += 1;
    if (isSame || next === theirs.element) expected += 1;
  }
  return merged;
}

function byElement(list: readonly unknown[], type: ListType): NamedList {
  const items: { element: string; item: unknown }[] = [];
  const values = new Map<string, unknown>();
  for (const item of list) {
    const element = elementOf(type, item);
    if (typeof element !== "string") continue;
    values.set(element, values.has(element) ? undefined : item);
    items.push({ element, item });
  }
  return { items, values };
}
