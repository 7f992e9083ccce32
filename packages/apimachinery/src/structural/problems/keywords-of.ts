import type { JsonSchema } from "../../schema.ts";

/**
 * The keywords that say something: Kubernetes cannot tell null, `false`, "" and empty lists from what is not there, but as
 * a default.
 */
export function keywordsOf(schema: JsonSchema): string[] {
  return Object.entries(schema)
    .filter(([keyword, value]) => value !== undefined && value !== null && (keyword === "default" || !isZero(value)))
    .map(([keyword]) => keyword);
}

function isZero(value: unknown): boolean {
  return value === false || value === "" || (Array.isArray(value) && value.length === 0);
}
