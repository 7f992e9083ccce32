import { sortedUtf8 } from "../json/order.ts";
import { isJsonObject, type JsonObject } from "../json/value.ts";
import { quote } from "../quote.ts";
import { FieldSet } from "./field-set.ts";
import { readListElement, sortListElements } from "./path-element.ts";

/**
 * Reads the `fieldsV1` of an entry of managedFields. Kinds of path elements that are not known are left out, as
 * Kubernetes does.
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
  if (!isJsonObject(node)) throw new SyntaxError("a node of FieldsV1 is no object");
  let has = false;
  let fields: Map<string, FieldSet> | undefined;
  let items: Map<string, FieldSet> | undefined;
  for (const key of Object.keys(node)) {
    if (key === ".") has = true;
    else if (key[1] !== ":") throw new SyntaxError(`path element ${quote(key)} has no kind`);
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

/** Writes a set as `fieldsV1`, in the order in which Kubernetes does. */
export function formatFieldsV1(set: FieldSet): JsonObject {
  const node: JsonObject = {};
  if (set.has && set.hasChildren) node["."] = {};
  // No name can be __proto__ here: each begins with its kind.
  if (set.fields !== undefined)
    for (const name of sortedUtf8(set.fields.keys())) node[`f:${name}`] = formatChild(set.fields.get(name));
  if (set.items !== undefined)
    for (const element of sortListElements([...set.items.keys()])) node[element] = formatChild(set.items.get(element));
  return node;
}

function formatChild(child: FieldSet | undefined): JsonObject {
  return child === undefined || child === FieldSet.leaf ? {} : formatFieldsV1(child);
}
