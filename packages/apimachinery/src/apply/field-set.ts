import { isJsonObject, type JsonObject, sortedUtf8 } from "../json/value.ts";
import { quote } from "../text/go-format.ts";
import { formatListElement, type ListElement, readListElement, sortListElements } from "./path-element.ts";

/** Sets below a field, by name or by list element. */
export type FieldSetChildren<K extends string = string> = ReadonlyMap<K, FieldSet> | undefined;

/** Computes the new set of a child; must keep an empty child empty and a full one non-empty. */
type ChangeOfChild = (child: FieldSet, key: string) => FieldSet;

/**
 * Immutable set of fields of an object, as a tree. Operations share unchanged parts, and return the same set if they change
 * nothing. Object fields are keyed by name, list elements in the form of FieldsV1 (`k:{"name":"a"}`, `v:"a"`, `i:0`).
 * Membership of a field implies nothing about the fields above and below it.
 */
export class FieldSet {
  // `this`, because the compiler turns the class name into a variable that is not set yet.
  static readonly empty: FieldSet = new this(false, undefined, undefined);
  /** Node of a field that is in the set, with nothing below it. */
  static readonly leaf: FieldSet = new this(true, undefined, undefined);

  /** Whether the field at this node is in the set; always false at the root. */
  readonly has: boolean;
  readonly fields: FieldSetChildren;
  readonly items: FieldSetChildren<ListElement>;

  /** Children must be non-empty sets, and `undefined` if there are none. */
  constructor(has: boolean, fields: FieldSetChildren, items: FieldSetChildren<ListElement>) {
    this.has = has;
    this.fields = fields;
    this.items = items;
  }

  /** Whether the set is empty. */
  get isEmpty(): boolean {
    return !this.has && this.fields === undefined && this.items === undefined;
  }

  /** Whether the set has a field below this node. */
  get hasChildren(): boolean {
    return this.fields !== undefined || this.items !== undefined;
  }

  /** Returns the union of many sets. Merges them pairwise, because each union copies the nodes that it changes. */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    const [first = FieldSet.empty] = sets;
    if (sets.length <= 1) return first;
    const half = sets.length >> 1;
    return FieldSet.unionOf(sets.slice(0, half)).union(FieldSet.unionOf(sets.slice(half)));
  }

  /** Number of fields in the set. */
  get size(): number {
    let size = this.has ? 1 : 0;
    for (const child of this.fields?.values() ?? []) size += child.size;
    for (const child of this.items?.values() ?? []) size += child.size;
    return size;
  }

  /** Returns the fields of either set. */
  union(other: FieldSet): FieldSet {
    if (this === other || other.isEmpty) return this;
    if (this.isEmpty) return other;
    return this.#with(
      this.has || other.has,
      combine(this.fields, other.fields, (mine, theirs) => mine?.union(theirs) ?? theirs),
      combine(this.items, other.items, (mine, theirs) => mine?.union(theirs) ?? theirs),
    );
  }

  /** Returns the fields of this set that are not in the other. */
  difference(other: FieldSet): FieldSet {
    if (this === other) return FieldSet.empty;
    return this.#with(
      this.has && !other.has,
      combine(this.fields, other.fields, (mine, theirs) => mine?.difference(theirs)),
      combine(this.items, other.items, (mine, theirs) => mine?.difference(theirs)),
    );
  }

  /** Like {@link difference}, but also leaves out every field below a field of the other set. */
  without(other: FieldSet): FieldSet {
    return this.#with(
      this.has && !other.has,
      combine(this.fields, other.fields, (mine, theirs) => (theirs.has ? undefined : mine?.without(theirs))),
      combine(this.items, other.items, (mine, theirs) => (theirs.has ? undefined : mine?.without(theirs))),
    );
  }

  /** Returns the fields that both sets have. */
  intersection(other: FieldSet): FieldSet {
    if (this === other) return this;
    return this.#with(this.has && other.has, common(this.fields, other.fields), common(this.items, other.items));
  }

  /** Whether the other set has all fields of this one. */
  isSubsetOf(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.has && !other.has) return false;
    return within(this.fields, other.fields) && within(this.items, other.items);
  }

  /** Whether both sets have the same fields. */
  equals(other: FieldSet): boolean {
    if (this === other) return true;
    return this.has === other.has && same(this.fields, other.fields) && same(this.items, other.items);
  }

  /** Returns the fields that have no field of the set below them. */
  leaves(): FieldSet {
    const below = (child: FieldSet): FieldSet => child.leaves();
    return this.#with(this.has && !this.hasChildren, mapped(this.fields, below), mapped(this.items, below));
  }

  /** Returns the set with each child replaced by the result of a function: object fields by name, list elements by their text. */
  mapChildren(
    field: (child: FieldSet, key: string) => FieldSet,
    item: (child: FieldSet, key: string) => FieldSet,
  ): FieldSet {
    return this.#with(this.has, mapped(this.fields, field), mapped(this.items, item));
  }

  /** Returns the paths of all fields as messages show them, `.spec.ports[name="a"].port`, in Kubernetes' order. */
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

  /** Returns this set itself if nothing changes. */
  #with(has: boolean, fields: FieldSetChildren, items: FieldSetChildren): FieldSet {
    if (has === this.has && fields === this.fields && items === this.items) return this;
    if (fields === undefined && items === undefined) return has ? FieldSet.leaf : FieldSet.empty;
    return new FieldSet(has, fields, items);
  }
}

/** Returns `mine` with each child that `theirs` also has (or only `theirs` has) replaced by the result of `change`. */
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

/** Returns the set of fields at these paths of names. */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  return FieldSet.unionOf(paths.map(setOfPath));
}

function setOfPath(path: readonly string[]): FieldSet {
  return path.reduceRight((below, name) => new FieldSet(false, new Map([[name, below]]), undefined), FieldSet.leaf);
}

/** Fields that identify the object or that the server sets: no manager owns them, as in Kubernetes. */
export const NEVER_OWNED: FieldSet = setOfPaths([
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => ["metadata", name]),
]);

/**
 * Parses the `fieldsV1` of an entry of managedFields. Unknown kinds of path elements are skipped, as in Kubernetes.
 *
 * @throws SyntaxError if it is malformed
 */
export function parseFieldsV1(fieldsV1: unknown): FieldSet {
  const set = readNode(fieldsV1);
  if (!set.hasChildren) return FieldSet.empty;
  return set.has ? new FieldSet(false, set.fields, set.items) : set;
}

function readNode(node: unknown): FieldSet {
  if (node === null) return FieldSet.leaf;
  if (!isJsonObject(node)) throw new SyntaxError("invalid FieldsV1: a node is not an object");
  let has = false;
  let fields: Map<string, FieldSet> | undefined;
  let items: Map<string, FieldSet> | undefined;
  for (const key of Object.keys(node)) {
    if (key === ".") has = true;
    else if (key[1] !== ":")
      throw new SyntaxError(`invalid path element ${quote(key)}: use f:<name>, k:<keys>, v:<value> or i:<index>`);
    else if (key[0] === "f") {
      fields ??= new Map();
      fields.set(key.slice(2), readNode(node[key]));
    } else {
      const element = readListElement(key);
      if (element === undefined) continue;
      const child = readNode(node[key]);
      items ??= new Map();
      items.set(element, items.get(element)?.union(child) ?? child);
    }
  }
  return fields === undefined && items === undefined ? FieldSet.leaf : new FieldSet(has, fields, items);
}

/** Formats a set as `fieldsV1`, in Kubernetes' order. */
export function formatFieldsV1(set: FieldSet): JsonObject {
  const node: JsonObject = {};
  if (set.has && set.hasChildren) node["."] = {};
  // No key can be __proto__ here: each begins with its kind.
  if (set.fields !== undefined)
    for (const name of sortedUtf8(set.fields.keys())) node[`f:${name}`] = formatChild(set.fields.get(name));
  if (set.items !== undefined)
    for (const element of sortListElements([...set.items.keys()])) node[element] = formatChild(set.items.get(element));
  return node;
}

function formatChild(child: FieldSet | undefined): JsonObject {
  return child === undefined || child === FieldSet.leaf ? {} : formatFieldsV1(child);
}
