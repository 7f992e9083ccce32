import type { JsonSchema } from "../../schema.ts";

/** The keywords that say something: Kubernetes cannot tell `false`, "" and empty lists from what is not there. */
export function keywordsOf(schema: JsonSchema): string[] {
  return Object.entries(schema)
    .filter(
      ([, value]) =>
        !(value === undefined || value === false || value === "" || (Array.isArray(value) && value.length === 0)),
    )
    .map(([keyword]) => keyword);
}
