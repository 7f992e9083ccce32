import type { JsonObject } from "../json/value.ts";
import type { SchemaNode, Tasks } from "./node.ts";

/** Called for a value below another, with its schema. */
export type Visit = (value: unknown, node: SchemaNode, place: FieldPath) => void;

/** Visits the members and items of a value whose schemas have work for a task. */
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
  readonly place: FieldPath;
  readonly task: keyof Tasks;
  readonly visit: Visit;
}

/** Position in an object, in the form of field.Path: `spec.ports[0].name`, `spec.map[key]`. The text is built on demand. */
export class FieldPath {
  static readonly root: FieldPath = new FieldPath(undefined, "");

  readonly #parent: FieldPath | undefined;
  readonly #step: string | number;
  readonly #key: boolean;

  constructor(parent: FieldPath | undefined, step: string | number, key = false) {
    this.#parent = parent;
    this.#step = step;
    this.#key = key;
  }

  /** Returns the path of a property. */
  child(name: string): FieldPath {
    return new FieldPath(this, name);
  }

  /** Returns the path of a value in a map. */
  key(name: string): FieldPath {
    return new FieldPath(this, name, true);
  }

  item(at: number): FieldPath {
    return new FieldPath(this, at);
  }

  /** Formats the path; "" at the root. */
  toString(): string {
    const steps: string[] = [];
    let place: FieldPath = this;
    while (place.#parent !== undefined) {
      steps.push(place.#key || typeof place.#step === "number" ? `[${place.#step}]` : `.${place.#step}`);
      place = place.#parent;
    }
    const text = steps.reverse().join("");
    return text.startsWith(".") ? text.slice(1) : text;
  }
}
