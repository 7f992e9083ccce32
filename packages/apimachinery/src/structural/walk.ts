import type { JsonObject } from "../json/value.ts";
import type { SchemaNode, Tasks } from "./node.ts";
import type { Place } from "./place.ts";

/** A value below another, with its schema. */
export type Visit = (value: unknown, node: SchemaNode, place: Place) => void;

/** Visits the members and items of a value whose schemas have something of a task. */
export function visitChildren(value: unknown, node: SchemaNode, { place, task, visit }: ChildVisit): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items?.tasks[task]) for (const [at, item] of value.entries()) visit(item, items, place.item(at));
  } else if (typeof value === "object" && value !== null) {
    const object = value as JsonObject;
    for (const name of Object.keys(object)) {
      const property = node.properties?.get(name);
      const member = property ?? node.additional;
      if (!member?.tasks[task]) continue;
      visit(object[name], member, property === undefined ? place.key(name) : place.child(name));
    }
  }
}

export interface ChildVisit {
  readonly place: Place;
  readonly task: keyof Tasks;
  readonly visit: Visit;
}
