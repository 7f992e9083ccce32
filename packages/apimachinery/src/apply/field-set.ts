import { sortedUtf8 } from "../json/order.ts";
import { formatListElement, type ListElement, sortListElements } from "./path-element.ts";

/** The sets below a field, by name or by element. */
export type FieldSetChildren<K extends string = string> = ReadonlyMap<K, FieldSet> | undefined;

/** What is to become of a child; it is as full or empty as it was. */
type ChangeOfChild = (child: FieldSet, key: string) => FieldSet;

/**
 * A set of fields of an object, as a tree that is never changed: operations share what they do not alter, and give the
 * very same set back if they alter nothing. Fields of objects are kept by name, elements of lists in the form of FieldsV1
 * (`k:{"name":"a"}`, `v:"a"`, `i:0`). That a field is in the set says nothing of those above and below it.
 */
export class FieldSet {
  // `this`, since the compiler makes of the name a variable that is not set yet.
  static readonly empty: FieldSet = new this(false, undefined, undefined);
  /** The node of a field that is in the set while nothing below it is. */
  static readonly leaf: FieldSet = new this(true, undefined, undefined);

  /** Whether the field at which this tree stands is in the set; never so at the root. */
  readonly has: boolean;
  readonly fields: FieldSetChildren;
  readonly items: FieldSetChildren<ListElement>;

  /** Children are non-empty sets, and `undefined` if there are none. */
  constructor(has: boolean, fields: FieldSetChildren, items: FieldSetChildren<ListElement>) {
    this.has = has;
    this.fields = fields;
    this.items = items;
  }

  /** Whether no field is in the set. */
  get isEmpty(): boolean {
    return !this.has && this.fields === undefined && this.items === undefined;
  }

  /** Whether anything is in the set below the field at which this tree stands. */
  get hasChildren(): boolean {
    return this.fields !== undefined || this.items !== undefined;
  }

  /** What is in any of many sets; halved and halved, since each union copies what it changes. */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    const [first = FieldSet.empty] = sets;
    if (sets.length <= 1) return first;
    const half = sets.length >> 1;
    return FieldSet.unionOf(sets.slice(0, half)).union(FieldSet.unionOf(sets.slice(half)));
  }

  /** How many fields are in the set. */
  get size(): number {
    let size = this.has ? 1 : 0;
    for (const child of this.fields?.values() ?? []) size += child.size;
    for (const child of this.items?.values() ?? []) size += child.size;
    return size;
  }

  /** What is in either. */
  union(other: FieldSet): FieldSet {
    if (this === other || other.isEmpty) return this;
    if (this.isEmpty) return other;
    return this.#with(
      this.has || other.has,
      combine(this.fields, other.fields, (mine, theirs) => mine?.union(theirs) ?? theirs),
      combine(this.items, other.items, (mine, theirs) => mine?.union(theirs) ?? theirs),
    );
  }

  /** What is in this one and not in the other. */
  difference(other: FieldSet): FieldSet {
    if (this === other) return FieldSet.empty;
    return this.#with(
      this.has && !other.has,
      combine(this.fields, other.fields, (mine, theirs) => mine?.difference(theirs)),
      combine(this.items, other.items, (mine, theirs) => mine?.difference(theirs)),
    );
  }

  /** As {@link difference}, and nothing that is below a field of the other one either. */
  without(other: FieldSet): FieldSet {
    return this.#with(
      this.has && !other.has,
      combine(this.fields, other.fields, (mine, theirs) => (theirs.has ? undefined : mine?.without(theirs))),
      combine(this.items, other.items, (mine, theirs) => (theirs.has ? undefined : mine?.without(theirs))),
    );
  }

  /** What is in both. */
  intersection(other: FieldSet): FieldSet {
    if (this === other) return this;
    return this.#with(this.has && other.has, common(this.fields, other.fields), common(this.items, other.items));
  }

  /** Whether all of this is in the other one. */
  isSubsetOf(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.has && !other.has) return false;
    return within(this.fields, other.fields) && within(this.items, other.items);
  }

  /** Whether the same fields are in both. */
  equals(other: FieldSet): boolean {
    if (this === other) return true;
    return this.has === other.has && same(this.fields, other.fields) && same(this.items, other.items);
  }

  /** The fields with nothing of the set below them. */
  leaves(): FieldSet {
    const below = (child: FieldSet): FieldSet => child.leaves();
    return this.#with(this.has && !this.hasChildren, mapped(this.fields, below), mapped(this.items, below));
  }

  /** The set with what is made of its children: of fields by name, of elements as they are written. */
  mapChildren(
    field: (child: FieldSet, key: string) => FieldSet,
    item: (child: FieldSet, key: string) => FieldSet,
  ): FieldSet {
    return this.#with(this.has, mapped(this.fields, field), mapped(this.items, item));
  }

  /** The paths of all fields as messages show them, `.spec.ports[name="a"].port`, in Kubernetes' order. */
  *paths(prefix = ""): Generator<string> {
    const children = [...this.#children(prefix)];
    for (const [path, child] of children) if (child.has) yield path;
    for (const [path, child] of children) yield* child.paths(path);
  }

  *#children(prefix: string): Generator<readonly [path: string, child: FieldSet]> {
    const { fields = new Map<string, FieldSet>(), items = new Map<string, FieldSet>() } = this;
    for (const name of sortedUtf8(fields.keys())) yield [`${prefix}.${name}`, fields.get(name) ?? FieldSet.empty];
    for (const element of sortListElements([...items.keys()]))
      yield [prefix + formatListElement(element), items.get(element) ?? FieldSet.empty];
  }

  /** This set itself if it is the same. */
  #with(has: boolean, fields: FieldSetChildren, items: FieldSetChildren): FieldSet {
    if (has === this.has && fields === this.fields && items === this.items) return this;
    if (fields === undefined && items === undefined) return has ? FieldSet.leaf : FieldSet.empty;
    return new FieldSet(has, fields, items);
  }
}

/** `mine`, each child that `theirs` has too (or only has) replaced by what `change` makes of them. */
function combine(
  mine: FieldSetChildren,
  theirs: FieldSetChildren,
  change: (mine: FieldSet | undefined, theirs: FieldSet) => FieldSet | undefined,
): FieldSetChildren {
  if (theirs === undefined) return mine;
  let changed: Map<string, FieldSet> | undefined;
  for (const [key, other] of theirs) {
    const before = mine?.get(key);
    const after = change(before, other);
    if (after === before) continue;
    changed ??= new Map(mine);
    if (after === undefined || after.isEmpty) changed.delete(key);
    else changed.set(key, after);
  }
  if (changed === undefined) return mine;
  return changed.size === 0 ? undefined : changed;
}

function common(mine: FieldSetChildren, theirs: FieldSetChildren): FieldSetChildren {
  if (mine === undefined || theirs === undefined) return undefined;
  if (mine === theirs) return mine;
  const kept = new Map<string, FieldSet>();
  let isSame = true;
  for (const [key, child] of mine) {
    const both = child.intersection(theirs.get(key) ?? FieldSet.empty);
    isSame &&= both === child;
    if (!both.isEmpty) kept.set(key, both);
  }
  if (isSame) return mine;
  return kept.size === 0 ? undefined : kept;
}

function within(mine: FieldSetChildren, theirs: FieldSetChildren): boolean {
  if (mine === undefined || mine === theirs) return true;
  if (theirs === undefined || mine.size > theirs.size) return false;
  for (const [key, child] of mine) if (!child.isSubsetOf(theirs.get(key) ?? FieldSet.empty)) return false;
  return true;
}

function same(mine: FieldSetChildren, theirs: FieldSetChildren): boolean {
  if (mine === theirs) return true;
  if (mine === undefined || theirs === undefined || mine.size !== theirs.size) return false;
  for (const [key, child] of mine) if (!child.equals(theirs.get(key) ?? FieldSet.empty)) return false;
  return true;
}

function mapped(children: FieldSetChildren, change: ChangeOfChild): FieldSetChildren {
  if (children === undefined) return undefined;
  let changed: Map<string, FieldSet> | undefined;
  for (const [key, child] of children) {
    const after = change(child, key);
    if (after === child) continue;
    changed ??= new Map(children);
    changed.set(key, after);
  }
  return changed ?? children;
}
