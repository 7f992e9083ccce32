import type { Environment } from "@marcbachmann/cel-js";
import { unescapeName } from "../types/escape.ts";
import type { Shape } from "../types/shape.ts";

/** The types that were declared for a schema. */
export interface Declared {
  /** Of the whole: `list<Object3>`. */
  readonly type: string;
  /** The fields of each type of objects. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
}

const LIBRARY_NAMES: Readonly<Record<string, string>> = {
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
};

/** Declares the types of a shape's objects. */
export function declareShape(environment: Environment, shape: Shape): Declared {
  const all = new Map<string, ReadonlySet<string>>();
  const declare = ({ type, element, fields }: Shape): string => {
    if (type === "list" && element !== undefined) return `list<${declare(element)}>`;
    if (type === "map" && element !== undefined) return `map<string, ${declare(element)}>`;
    if (fields === undefined) return LIBRARY_NAMES[type] ?? type;
    const declared: Record<string, string> = Object.create(null);
    for (const [name, field] of fields) {
      declared[name] = declare(field);
      // A keyword may also be written as it is.
      declared[/^__[a-z]+__$/.test(name) ? (unescapeName(name) ?? name) : name] = declared[name];
    }
    const name = `Object${all.size}`;
    environment.registerType(name, { ctor: class {}, fields: declared });
    environment.registerOperator(`${name} == ${name}`, () => true);
    all.set(name, new Set(Object.keys(declared)));
    return name;
  };
  return { type: declare(shape), fields: all };
}
