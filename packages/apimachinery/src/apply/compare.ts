import { equalJson, type JsonObject, memberOf } from "../json/value.ts";
import { FieldSet } from "./field-set.ts";
import type { ListElement } from "./path-element.ts";
import {
  DEDUCED,
  elementOf,
  type Form,
  filledList,
  filledMap,
  formOf,
  type ListType,
  type MapType,
  memberType,
  type ValueType,
} from "./value-type.ts";

/** Ways in which a field differs, as bits: a field that changes its form is both removed and added. */
export const ADDED = 1;
export const MODIFIED = 2;
export const REMOVED = 4;

/** Tree of the fields that differ between two values, and of no others. Undefined if none differ. */
export interface Changes {
  readonly marks: number;
  readonly fields: ReadonlyMap<string, Changes> | undefined;
  readonly items: ReadonlyMap<ListElement, Changes> | undefined;
}

/** Returns the fields of a tree of changes that carry one of these marks. */
export function changed(changes: Changes | undefined, marks: number): FieldSet {
  if (changes === undefined) return FieldSet.empty;
  const has = (changes.marks & marks) !== 0;
  const fields = changedBelow(changes.fields, marks);
  const items = changedBelow(changes.items, marks);
  if (fields === undefined && items === undefined) return has ? FieldSet.leaf : FieldSet.empty;
  return new FieldSet(has, fields, items);
}

function changedBelow(
  children: ReadonlyMap<string, Changes> | undefined,
  marks: number,
): Map<string, FieldSet> | undefined {
  if (children === undefined) return undefined;
  const kept = new Map<string, FieldSet>();
  for (const [key, child] of children) {
    const below = changed(child, marks);
    if (!below.isEmpty) kept.set(key, below);
  }
  return kept.size === 0 ? undefined : kept;
}

const LEAVES: readonly Changes[] = Array.from({ length: 8 }, (_, marks) => ({
  marks,
  fields: undefined,
  items: undefined,
}));

/** Compares an old and a new value of a type. `undefined` stands for an absent value; at most one of the two may be absent. */
export function compare(before: unknown, after: unknown, type: ValueType): Changes | undefined {
  if (before === after) return undefined;
  const form = formOf(type, after === undefined ? before : after);
  if (before === undefined) return combine(LEAVES[ADDED], compareAs(form, { before, after, type }));
  if (after === undefined) return combine(LEAVES[REMOVED], compareAs(form, { before, after, type }));
  const changes = compareAs(form, { before, after, type });
  const former = formOf(type, before);
  return former === form ? changes : combine(compareAs(former, { before, after, type }), changes);
}

/**
 * Returns the fields that a value adds where there was none: the same as {@link changed} of its comparison with `undefined`,
 * without a tree of changes.
 */
function added(value: unknown, type: ValueType): FieldSet {
  const form = formOf(type, value);
  if (form === "map" && type.map !== undefined && !type.map.atomic) {
    const fields = addedMembers(filledMap(value), type.map);
    return fields === undefined ? FieldSet.leaf : new FieldSet(true, fields, undefined);
  }
  if (form === "list" && type.list !== undefined && !type.list.atomic) {
    const items = addedItems(filledList(value), type.list);
    return items === undefined ? FieldSet.leaf : new FieldSet(true, undefined, items);
  }
  return FieldSet.leaf;
}

/** Returns the fields that an object adds to a bare one, which has no members. */
export function addedToBare(object: JsonObject, type: ValueType): FieldSet {
  if (type.map === undefined || type.map.atomic) return changed(compare({}, object, type), ADDED | MODIFIED);
  const fields = addedMembers(object, type.map);
  return fields === undefined ? FieldSet.empty : new FieldSet(false, fields, undefined);
}

function addedMembers(members: JsonObject = {}, type: MapType): Map<string, FieldSet> | undefined {
  let fields: Map<string, FieldSet> | undefined;
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (value === undefined) continue;
    fields ??= new Map();
    fields.set(name, added(value, memberType(type, name) ?? DEDUCED));
  }
  return fields;
}

function addedItems(list: readonly unknown[] = [], type: ListType): Map<ListElement, FieldSet> | undefined {
  const items = new Map<ListElement, FieldSet>();
  for (const [element, same] of byElement(list, type))
    items.set(element, same.length === 1 ? added(same[0], type.element) : FieldSet.leaf);
  return items.size === 0 ? undefined : items;
}

interface ValuePair {
  readonly before: unknown;
  readonly after: unknown;
  readonly type: ValueType;
}

function compareAs(form: Form, { before, after, type }: ValuePair): Changes | undefined {
  if (form === "map" && type.map !== undefined && !type.map.atomic) {
    const [left, right] = [filledMap(before), filledMap(after)];
    if (left !== undefined || right !== undefined) return compareMaps(left, right, type.map);
  }
  if (form === "list" && type.list !== undefined && !type.list.atomic) {
    const [left, right] = [filledList(before), filledList(after)];
    if (left !== undefined || right !== undefined) return compareLists(left, right, type.list);
  }
  if (before === undefined) return LEAVES[ADDED];
  if (after === undefined) return LEAVES[REMOVED];
  return equalJson(before, after) ? undefined : LEAVES[MODIFIED];
}

function compareMaps(before: JsonObject = {}, after: JsonObject = {}, type: MapType): Changes | undefined {
  let fields: Map<string, Changes> | undefined;
  const visit = (name: string, left: unknown, right: unknown): void => {
    const difference = compare(left, right, memberType(type, name) ?? DEDUCED);
    if (difference === undefined) return;
    fields ??= new Map();
    fields.set(name, difference);
  };
  for (const name of Object.keys(before)) visit(name, before[name], memberOf(after, name));
  for (const name of Object.keys(after)) if (memberOf(before, name) === undefined) visit(name, undefined, after[name]);
  return fields && { marks: 0, fields, items: undefined };
}

function compareLists(
  before: readonly unknown[] = [],
  after: readonly unknown[] = [],
  type: ListType,
): Changes | undefined {
  if (equalJson(before, after)) return undefined;
  const left = byElement(before, type);
  const right = byElement(after, type);
  const items = new Map<string, Changes>();
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const difference = compareElements(left.get(element) ?? [], right.get(element) ?? [], type.element);
    if (difference !== undefined) items.set(element, difference);
  }
  return items.size === 0 ? undefined : { marks: 0, fields: undefined, items };
}

/** Elements with the same name count together as one atomic element. */
function compareElements(before: readonly unknown[], after: readonly unknown[], type: ValueType): Changes | undefined {
  if (before.length <= 1 && after.length <= 1) return compare(before[0], after[0], type);
  if (before.length > 1 && after.length > 1) return equalJson(before, after) ? undefined : LEAVES[MODIFIED];
  if (before.length > 1)
    return combine(LEAVES[REMOVED], after.length === 0 ? undefined : compare(undefined, after[0], type));
  return combine(LEAVES[ADDED], before.length === 0 ? undefined : compare(before[0], undefined, type));
}

function byElement(list: readonly unknown[], type: ListType): Map<ListElement, unknown[]> {
  const found = new Map<ListElement, unknown[]>();
  for (const item of list) {
    const element = elementOf(type, item);
    if (typeof element !== "string") continue;
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  }
  return found;
}

function combine(a: Changes | undefined, b: Changes | undefined): Changes | undefined {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  return {
    marks: a.marks | b.marks,
    fields: combineChildren(a.fields, b.fields),
    items: combineChildren(a.items, b.items),
  };
}

function combineChildren(
  a: ReadonlyMap<string, Changes> | undefined,
  b: ReadonlyMap<string, Changes> | undefined,
): ReadonlyMap<string, Changes> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const all = new Map(a);
  for (const [key, changes] of b) all.set(key, combine(a.get(key), changes) ?? changes);
  return all;
}
