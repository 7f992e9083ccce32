import type { JsonSchema } from "../../schema.ts";

/** A property of its own, never one that objects inherit (`constructor`). */
export function propertyOf({ properties = {} }: JsonSchema, name: string): JsonSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
