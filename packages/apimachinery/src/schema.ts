import type { KubeObject } from "./meta/types.ts";

/** CEL rule of a schema (apiextensions' ValidationRule). */
export interface ValidationRule {
  /** CEL over `self` and, in a transition rule, `oldSelf`. */
  readonly rule: string;
  readonly message?: string;
  /** CEL expression for the message; takes precedence over `message`. */
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** Path that the error reports, relative to `self`. */
  readonly fieldPath?: string;
  /** Whether a transition rule also runs without an old value. */
  readonly optionalOldSelf?: boolean;
}

/**
 * Structural schema as in a CustomResourceDefinition (apiextensions' JSONSchemaProps). A literal is also the type of the
 * objects: see `FromSchema`.
 */
export interface JsonSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  /** Whether null is a value. Default: no; null then counts as missing. */
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];

  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  /** Schema of all values of a map; excludes `properties`. */
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;

  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Rejected if true, as in Kubernetes: use `x-kubernetes-list-type: set`. */
  readonly uniqueItems?: boolean;

  /** RE2 where the schema is served, as in Kubernetes; ECMAScript by default in `compileSchema`. */
  readonly pattern?: string;
  /** Counted in code points, like `maxLength`. */
  readonly minLength?: number;
  readonly maxLength?: number;

  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;

  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;

  /** Whether fields outside the schema are kept; otherwise they are pruned. */
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** Whether the value is an object with its own apiVersion, kind and metadata. */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** Whether the value is an integer or a text; excludes `type`. */
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** Treatment in a strategic merge patch: `merge`, `replace`, `retainKeys`, or `retainKeys` and another, separated by a comma. */
  readonly "x-kubernetes-patch-strategy"?: string;
  /** Member that identifies the items of a merged list in a strategic merge patch. */
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/**
 * Schema literal without mistakes that a type parameter alone accepts: unknown keywords, and names in `required` that are not
 * properties. Intersect the parameter with it, and such a literal does not compile:
 *
 * `function define<const S extends JsonSchema>(schema: S & CheckedSchema<S>): FromSchema<S>`
 */
export type CheckedSchema<S> = {
  readonly [K in keyof S]: K extends keyof JsonSchema ? CheckedKeyword<S, K> : UnknownKeyword<K>;
};

/** Type of the value of an unknown keyword: its name is what the compiler prints. */
export interface UnknownKeyword<Name> {
  readonly "unknown keyword of a schema": Name;
}

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

/** Checks each property, or each element of a list. */
type CheckedSchemas<C> = { readonly [K in keyof C]: CheckedSchema<C[K]> };

type RequiredNames<S> = S extends { readonly properties: infer P } ? readonly (keyof P)[] : readonly string[];

/**
 * Type of the values of a schema, from the schema as a literal (`as const`, or a `const` type parameter):
 *
 * `{ type: "object", required: ["text"], properties: { text: { type: "string" }, author: { type: "string" } } }` is `{ text:
 * string; author?: string }`.
 *
 * `allOf`, `anyOf`, `oneOf` and `not` only validate in a structural schema, so they add nothing here. A schema that is not a
 * literal gives `unknown`.
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
          ? ObjectValueOf<S>
          : unknown;

type ItemOf<S> = S extends { readonly items: infer I } ? FromSchema<I> : unknown;

type ObjectValueOf<S> = S extends { readonly "x-kubernetes-embedded-resource": true }
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

/** Names in `required`; none if they are not literals. */
type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? (string extends R ? never : R) : never;

/** Intersection as one object type, so that editors show it as one. */
type Flat<T> = { [K in keyof T]: T[K] };
