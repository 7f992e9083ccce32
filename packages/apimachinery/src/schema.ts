/** A CEL rule of a schema (apiextensions' ValidationRule). */
export interface ValidationRule {
  /** CEL, over `self` and, if the rule is about a change, `oldSelf`. */
  readonly rule: string;
  readonly message?: string;
  /** CEL that gives the message; wins over `message`. */
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** Where the error is said to be, relative to `self`. */
  readonly fieldPath?: string;
  /** Whether a rule about a change also runs when there is no old value. */
  readonly optionalOldSelf?: boolean;
}

/**
 * A structural schema, as a CustomResourceDefinition has it (apiextensions' JSONSchemaProps). Written as a literal it
 * is the type of the objects as well: `FromSchema`.
 */
export interface JsonSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  /** Whether null is a value too. Default: no; null then counts as missing. */
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];

  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  /** The schema of all values of a map; not together with `properties`. */
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;

  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Refused if true, as in Kubernetes: say `x-kubernetes-list-type: set` instead. */
  readonly uniqueItems?: boolean;

  /** RE2 where the schema is served, as in Kubernetes; ECMAScript in {@link compileSchema} unless told otherwise. */
  readonly pattern?: string;
  /** Counted in code points, as `maxLength`. */
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

  /** Whether fields that the schema does not name are kept; otherwise they are pruned. */
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** Whether the value is an object with apiVersion, kind and metadata of its own. */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** Whether the value is an integer or a text; then without `type`. */
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** How a strategic merge patch treats the value: `merge`, `replace`, `retainKeys`, or `retainKeys` and another by a comma. */
  readonly "x-kubernetes-patch-strategy"?: string;
  /** The member that tells the items of a merged list apart in a strategic merge patch. */
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}
