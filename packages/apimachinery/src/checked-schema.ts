import type { JsonSchema } from "./schema.ts";

/**
 * A schema literal without mistakes that a type parameter alone lets through: keywords that are none, and names in
 * `required` that are no properties. Intersect the parameter with it, and such a literal does not compile:
 *
 * `function define<const S extends JsonSchema>(schema: S & CheckedSchema<S>): FromSchema<S>`
 */
export type CheckedSchema<S> = { readonly [K in keyof S]: K extends keyof JsonSchema ? CheckedKeyword<S, K> : never };

type CheckedKeyword<S, K extends keyof S & keyof JsonSchema> = K extends "properties"
  ? CheckedSchemas<S[K]>
  : K extends "items" | "not" | "additionalProperties"
    ? S[K] extends boolean
      ? S[K]
      : CheckedSchema<S[K]>
    : K extends "allOf" | "anyOf" | "oneOf"
      ? CheckedSchemas<S[K]>
      : K extends "required"
        ? RequiredNames<S>
        : S[K];

/** Of each property, or of each element of a list. */
type CheckedSchemas<C> = { readonly [K in keyof C]: CheckedSchema<C[K]> };

type RequiredNames<S> = S extends { readonly properties: infer P } ? readonly (keyof P)[] : readonly string[];
