import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource, type ResourceOptions } from "@virtual-workspaces/framework";

type Options = Omit<ResourceOptions<JsonSchema, JsonSchema, JsonSchema>, "group" | "version"> & {
  /** Versions, the stored one first. @default only `v1` */
  readonly versions?: readonly string[];
};

/** Kind that both servers serve: its versions, which share a schema. */
export type DifferentialKind = readonly [Resource, ...Resource[]];

/** Defines a kind in the group `oracle.dev`. */
export function kind({ versions: [first = "v1", ...others] = [], ...options }: Options): DifferentialKind {
  const inVersion = (version: string): Resource => new Resource({ ...options, group: "oracle.dev", version });
  return [inVersion(first), ...others.map(inVersion)];
}
