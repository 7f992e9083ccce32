// Random values for a schema, mostly valid ones.
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { Random } from "../_support/random.ts";

const WORDS = [
  "",
  "a",
  "b",
  "ab",
  "AB-1",
  "red",
  "x".repeat(12),
  "é😀",
  "1",
  "true",
  "10%",
  "https://example.dev/x",
  "1Mi",
];
const NUMBERS = [0, 1, 2, 3, 6, 9, 10, -1, 0.5, 100];
/** Unsuitable as keys of lists: Kubernetes corrupts them in managedFields. */
const LARGE = [9007199254740993n, -9223372036854775808n, 1];
const ODD: readonly unknown[] = [null, "odd", 7, 1.5, true, [], {}, [null], { unknown: 1 }];

/** Values for any schema. `odd` is the probability of an invalid value at each place. */
export class Values {
  readonly #random: Random;
  readonly #odd: number;

  constructor(random: Random, odd: number) {
    this.#random = random;
    this.#odd = odd;
  }

  of(schema: JsonSchema, depth = 0, odd = this.#odd): unknown {
    if (this.#random.chance(odd)) return this.#random.pick(ODD);
    if (schema.enum !== undefined) return this.#random.pick(schema.enum);
    if (schema["x-kubernetes-int-or-string"] === true) return this.#random.pick([80, "http", 0, "50%"]);
    switch (schema.type) {
      case "object":
        return this.#object(schema, depth, odd);
      case "array":
        return this.#random.many(this.#random.below(4), () => this.of(schema.items ?? {}, depth + 1));
      case "string":
        return schema.format === "date-time" ? "2020-01-01T00:00:00Z" : this.#random.pick(WORDS);
      case "integer":
        return schema.format === "int64"
          ? this.#random.pick(LARGE)
          : this.#random.pick(NUMBERS.filter(Number.isInteger));
      case "number":
        return this.#random.pick(NUMBERS);
      case "boolean":
        return this.#random.chance(0.5);
      default:
        return this.#random.pick<unknown>(["any", 1, { a: 1, l: [1, { b: 2 }] }, [1, "x"]]);
    }
  }

  #object(schema: JsonSchema, depth: number, odd: number): Record<string, unknown> {
    const { properties = {}, required = [], additionalProperties } = schema;
    const object: Record<string, unknown> = {};
    const wanted = depth === 0 ? 0.9 : 0.4;
    for (const [name, property] of Object.entries(properties)) {
      if (!required.includes(name) && !this.#random.chance(wanted)) continue;
      // Kubernetes keeps values that an apply owns although it prunes them, see intended.ts.
      const isKept = schema["x-kubernetes-preserve-unknown-fields"] === true && property.properties !== undefined;
      object[name] = this.of(property, depth + 1, isKept ? 0 : this.#odd);
    }
    if (typeof additionalProperties === "object")
      for (const name of ["a", "b", "c"])
        if (this.#random.chance(0.4)) object[name] = this.of(additionalProperties, depth + 1);
    if (schema["x-kubernetes-embedded-resource"] === true) Object.assign(object, { apiVersion: "v1", kind: "Thing" });
    if (this.#random.chance(odd)) object["unknown"] = 1;
    return object;
  }
}
