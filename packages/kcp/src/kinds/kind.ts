import type { CheckedSchema, JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { type ColumnSpec, type ContentOf, Resource } from "@virtual-workspaces/framework";

/** What {@link kcpKind} takes besides what all kinds of kcp's have in common. */
interface KcpKindOptions<Spec extends JsonSchema, Status extends JsonSchema, Required extends readonly "spec"[]> {
  readonly group: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly description: string;
  /** What names may be, besides what names of all kinds may be. */
  readonly names?: JsonSchema;
  readonly spec: Spec & CheckedSchema<Spec>;
  readonly status?: Status & CheckedSchema<Status>;
  /** Whether an object must have a spec. */
  readonly required: Required;
  readonly columns?: Readonly<Record<string, ColumnSpec>>;
}

/**
 * A kind of kcp's: `v1alpha1`, of the whole logical cluster, in the category `kcp`. As `defineResource`, but that it can
 * also say which names there may be, and that its spec may be missing.
 */
export function kcpKind<
  const Spec extends JsonSchema,
  const Status extends JsonSchema = never,
  const Required extends readonly "spec"[] = readonly [],
>(
  options: KcpKindOptions<Spec, Status, Required>,
): Resource<
  // There is a spec where its schema gives one, or demands one.
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

/** The age: in kcp's schemas it is a column like the others. */
export const AGE: ColumnSpec = { jsonPath: ".metadata.creationTimestamp", type: "date" };

/** An object of a kind, from the kind: `ObjectsOf<typeof Workspace>`. It has type and metadata. */
export type ObjectsOf<Kind> = Kind extends Resource<infer Content> ? ObjectOf<Content> : never;

/** What objects of a kind hold besides type and metadata. */
export type Holds<R> = R extends Resource<infer Content> ? Content : never;

/** What is the same of all kinds of `apis.kcp.io`. */
export const apis = { group: "apis.kcp.io", scope: "Cluster", categories: ["kcp"], lazySchema: true } as const;

/** Whether a condition is true. */
export function conditionColumn(type: string): ColumnSpec {
  return { jsonPath: `.status.conditions[?(@.type=="${type}")].status`, type: "string" };
}
