import type { ColumnSpec } from "@virtual-workspaces/framework";

/** What is the same of all kinds of `apis.kcp.io`. */
export const apis = { group: "apis.kcp.io", scope: "Cluster", categories: ["kcp"], lazySchema: true } as const;

/** The age, for kinds that show it elsewhere than last. */
export const AGE: ColumnSpec = { jsonPath: ".metadata.creationTimestamp", type: "date" };

/** Whether a condition is true. */
export function conditionColumn(type: string): ColumnSpec {
  return { jsonPath: `.status.conditions[?(@.type=="${type}")].status`, type: "string" };
}
