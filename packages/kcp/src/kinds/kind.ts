import type { CheckedSchema, JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { type ColumnSpec, type ContentOf, Resource } from "@virtual-workspaces/framework";

/** Options of {@link kcpKind} beyond those that all kcp kinds share. */
interface KcpKindOptions<Spec extends JsonSchema, Status extends JsonSchema, Required extends readonly "spec"[]> {
  readonly group: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly description: string;
  /** Additional schema for the object's name. */
  readonly names?: JsonSchema;
  readonly spec: Spec & CheckedSchema<Spec>;
  readonly status?: Status & CheckedSchema<Status>;
  /** Whether objects must have a spec. */
  readonly required: Required;
  readonly columns?: Readonly<Record<string, ColumnSpec>>;
}

/**
 * Defines a kcp kind: `v1alpha1`, cluster-scoped, in the category `kcp`. Like `defineResource`, but with a schema for names and an
 * optional spec.
 */
export function kcpKind<
  const Spec extends JsonSchema,
  const Status extends JsonSchema = never,
  const Required extends readonly "spec"[] = readonly [],
>(
  options: KcpKindOptions<Spec, Status, Required>,
): Resource<
  // The spec is present if its schema has a default or requires it.
  Spec extends { readonly default: unknown }
    ? ContentOf<Spec, Status, never>
    : Required extends readonly ["spec"]
      ? ContentOf<Spec, Status, never>
      : Partial<ContentOf<Spec, Status, never>>
> {
  const { names, spec, status, required, description, columns, ...rest } = options;
  const schema: JsonSchema = {
    type: "object",
    description,
    ...(required.length > 0 && { required }),
    properties: {
      ...(names !== undefined && { metadata: { type: "object", properties: { name: names } } }),
      spec,
      ...(status !== undefined && { status }),
    },
  };
  return new Resource({
    ...rest,
    version: "v1alpha1",
    scope: "Cluster",
    categories: ["kcp"],
    schema,
    lazySchema: true,
    ...(columns !== undefined && { columns: { ...columns, Age: AGE } }),
  });
}

/** Age column, an ordinary column in kcp's schemas. */
export const AGE = { jsonPath: ".metadata.creationTimestamp", type: "date" } as const satisfies ColumnSpec;

/** Object type of a kind: `ObjectsOf<typeof Workspace>`, with type and metadata. */
export type ObjectsOf<Kind> = Kind extends Resource<infer Content> ? ObjectOf<Content> : never;

/** Content type of a kind, without type and metadata. */
export type Holds<R> = R extends Resource<infer Content> ? Content : never;

/** Options that all kinds of `apis.kcp.io` share. */
export const apis = { group: "apis.kcp.io", scope: "Cluster", categories: ["kcp"], lazySchema: true } as const;

/** Returns a column with the status of a condition. */
export function conditionColumn(type: string): { readonly jsonPath: ConditionPath; readonly type: "string" } {
  return { jsonPath: `.status.conditions[?(@.type=="${type}")].status`, type: "string" };
}

type ConditionPath = `.status.conditions[${string}].status`;
