import type { KubeObject } from "./meta.ts";

/**
 * The type of the values of a schema, from the schema as a literal (`as const`, or a `const` type parameter):
 *
 * `{ type: "object", required: ["text"], properties: { text: { type: "string" }, author: { type: "string" } } }`
 * is `{ text: string; author?: string }`.
 *
 * `allOf`, `anyOf`, `oneOf` and `not` only validate in a structural schema, so they add nothing here. A schema that
 * is not known as a literal is `unknown`.
 */
export type FromSchema<S> = S extends { readonly nullable: true } ? ValueOf<S> | null : ValueOf<S>;

type ValueOf<S> = S extends { readonly "x-kubernetes-int-or-string": true }
  ? number | string
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: infer T }
      ? TypedValueOf<S, T>
      : S extends { readonly "x-kubernetes-embedded-resource": true }
        ? KubeObject
        : unknown;

type TypedValueOf<S, T> = T extends "string"
  ? string
  : T extends "integer" | "number"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "array"
        ? ItemOf<S>[]
        : T extends "object"
          ? ObjectOf<S>
          : unknown;

type ItemOf<S> = S extends { readonly items: infer I } ? FromSchema<I> : unknown;

type ObjectOf<S> = S extends { readonly "x-kubernetes-embedded-resource": true }
  ? KubeObject & FieldsOf<S>
  : S extends { readonly "x-kubernetes-preserve-unknown-fields": true }
    ? Flat<FieldsOf<S> & Record<string, unknown>>
    : S extends { readonly properties: object }
      ? FieldsOf<S>
      : S extends { readonly additionalProperties: infer A }
        ? Record<string, A extends boolean ? unknown : FromSchema<A>>
        : Record<string, unknown>;

type FieldsOf<S> = S extends { readonly properties: infer P }
  ? Flat<
      { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]-?: FromSchema<P[K]> } & {
        -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: FromSchema<P[K]>;
      }
    >
  : unknown;

/** The names in `required`; none when they are not known as literals. */
type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? (string extends R ? never : R) : never;

/** An intersection as one object type, which is how editors should show it. */
type Flat<T> = { [K in keyof T]: T[K] };
