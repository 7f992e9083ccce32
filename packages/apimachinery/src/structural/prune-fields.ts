import { UnknownFields } from "../json/bounded.ts";
import { isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { memberNode, RESOURCE_FIELDS, type SchemaNode } from "./node.ts";

/**
 * Removes the fields that a schema does not name, in place (apiextensions' pruning.PruneWithOptions).
 *
 * @param resource Whether apiVersion, kind and metadata stay whatever the schema declares, as at the root of an object
 * @returns their paths as field validation names them, sorted and bounded in number: `spec.list[0].bar`
 */
export function pruneValue(value: unknown, node: SchemaNode, resource: boolean): string[] {
  const pruning = new SchemaPruning();
  if (resource && !node.preserves && isJsonObject(value)) pruning.members(value, node, true);
  else pruning.value(value, node);
  return pruning.unknown.sorted();
}

class SchemaPruning {
  readonly unknown = new UnknownFields();
  readonly #path: (string | number)[] = [];

  value(value: unknown, node: SchemaNode | undefined): void {
    if (typeof value !== "object" || value === null) return;
    if (node?.preserves) this.#preserved(value, node);
    else if (Array.isArray(value)) this.#items(value, node?.items);
    else this.members(value as JsonObject, node, node?.embedded ?? false);
  }

  members(object: JsonObject, node: SchemaNode | undefined, resource: boolean): void {
    for (const name of Object.keys(object)) {
      if (resource && RESOURCE_FIELDS.has(name)) continue;
      const property = node?.properties?.get(name);
      if (property !== undefined || node?.open) this.#member(object, name, property ?? node?.additional);
      else {
        this.#note(name);
        delete object[name];
      }
    }
  }

  #note(name: string): void {
    if (this.unknown.full) return;
    this.#path.push(name);
    this.unknown.add([pathText(this.#path)]);
    this.#path.pop();
  }

  /** Keeps fields that the schema does not name, with everything below them, and prunes named ones by their own schemas. */
  #preserved(value: object, node: SchemaNode): void {
    if (Array.isArray(value)) {
      const { items } = node;
      if (items !== undefined)
        this.#each(value, (item) => typeof item === "object" && item !== null && this.#preserved(item, items));
      return;
    }
    if (node.properties === undefined && !node.open) return;
    for (const name of Object.keys(value)) {
      if (node.embedded && RESOURCE_FIELDS.has(name)) continue;
      const property = node.properties?.get(name);
      if (property !== undefined || node.open) this.#member(value as JsonObject, name, property ?? node.additional);
    }
  }

  #items(list: readonly unknown[], node: SchemaNode | undefined): void {
    this.#each(list, (item) => this.value(item, node));
  }

  #each(list: readonly unknown[], visit: (item: unknown) => void): void {
    for (const [at, item] of list.entries()) {
      this.#path.push(at);
      visit(item);
      this.#path.pop();
    }
  }

  #member(object: JsonObject, name: string, node: SchemaNode | undefined): void {
    const value = object[name];
    if (typeof value !== "object" || value === null) return;
    this.#path.push(name);
    this.value(value, node);
    this.#path.pop();
  }
}

function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/**
 * Removes null members in place where the schema has neither `nullable` nor a default: null means missing there
 * (apiextensions' PruneNonNullableNullsWithoutDefaults).
 */
export function pruneNulls(value: unknown, node: SchemaNode): void {
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) pruneNulls(item, node.items);
  } else if (isJsonObject(value) && (node.properties !== undefined || node.additional !== undefined)) {
    for (const name of Object.keys(value)) {
      const member = memberNode(node, name);
      if (member === undefined) continue;
      if (value[name] !== null) pruneNulls(memberOf(value, name), member);
      else if (!member.nullable && member.default === undefined) delete value[name];
    }
  }
}
