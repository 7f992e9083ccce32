import { equalJson, isJsonObject, type JsonObject } from "../json/value.ts";
import { memberNode, type SchemaNode } from "./node.ts";

/**
 * Finds the item of an old list with the same keys (cel/common's MapList); the first of several. Does not find items that
 * lack a key or have a non-scalar one.
 */
export class OldItems {
  readonly #keys: readonly string[];
  readonly #items = new Map<unknown, JsonObject>();

  constructor(keys: readonly string[], old: readonly unknown[]) {
    this.#keys = keys;
    for (const item of old) {
      const key = this.#keyOf(item);
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item as JsonObject);
    }
  }

  /** Returns the old items of a list; undefined if the list has no keys to find items by. */
  static of(node: SchemaNode, old: unknown): OldItems | undefined {
    return node.mapKeys.length > 0 && Array.isArray(old) && old.length > 0
      ? new OldItems(node.mapKeys, old)
      : undefined;
  }

  find(item: unknown): JsonObject | undefined {
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }

  #keyOf(item: unknown): unknown {
    if (!isJsonObject(item)) return undefined;
    const [only, ...others] = this.#keys;
    if (others.length === 0) return only === undefined ? undefined : scalar(item, only);
    const values = this.#keys.map((key) => scalar(item, key));
    return values.includes(undefined) ? undefined : values.map(keyText).join("\0");
  }
}

function scalar(item: JsonObject, name: string): unknown {
  const value = Object.hasOwn(item, name) ? item[name] : undefined;
  return typeof value === "object" ? undefined : value;
}

/** Returns different texts for different values: strings are quoted. */
function keyText(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Value, with its counterpart in the old object. */
interface Pair {
  readonly value: unknown;
  readonly old: unknown;
}

/**
 * Decides whether values are unchanged, by their schema: items of a list-map are found by their keys, and an object with a
 * member that has no schema always counts as changed (cel/common's CorrelatedObject). Compares each object once.
 */
export class Unchanged {
  readonly #known = new Map<unknown, { readonly old: unknown; readonly same: boolean }>();

  test(node: SchemaNode, value: unknown, old: unknown): boolean {
    if (typeof value !== "object" || value === null) return value === old;
    if (typeof old !== "object" || old === null) return false;
    const known = this.#known.get(value);
    if (known !== undefined && known.old === old) return known.same;
    const same = this.#compare(node, { value, old });
    this.#known.set(value, { old, same });
    return same;
  }

  #compare(node: SchemaNode, { value, old }: Pair): boolean {
    if (Array.isArray(value))
      return Array.isArray(old) && value.length === old.length && this.#sameItems(node, value, old);
    return isJsonObject(value) && isJsonObject(old) && this.#sameMembers(node, value, old);
  }

  #sameItems(node: SchemaNode, value: readonly unknown[], old: readonly unknown[]): boolean {
    if (value.length === 0) return true;
    if (node.listType !== "map") return equalJson(value, old);
    const items = OldItems.of(node, old);
    const { items: itemNode } = node;
    if (items === undefined || itemNode === undefined) return false;
    return value.every((item) => {
      const oldItem = items.find(item);
      return oldItem !== undefined && this.test(itemNode, item, oldItem);
    });
  }

  #sameMembers(node: SchemaNode, value: JsonObject, old: JsonObject): boolean {
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => {
      const member = memberNode(node, name);
      return member !== undefined && Object.hasOwn(old, name) && this.test(member, value[name], old[name]);
    });
  }
}
