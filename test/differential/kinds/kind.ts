import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource, type ResourceOptions } from "@virtual-workspaces/framework";

type Options = Omit<ResourceOptions<JsonSchema, JsonSchema, JsonSchema>, "group" | "version"> & {
  /** @default one, `v1`; the first is the one that is stored */
  readonly versions?: readonly string[];
};

/** A kind that both sides serve: its versions, which have one schema. */
export type DifferentialKind = readonly [Resource, ...Resource[]];

/** A kind of the group `oracle.dev`. */
export function kind({ versions: [first = "v1", ...others] = [], ...options }: Options): DifferentialKind {
  const inVersion = (version: string): Resource => new Resource({ ...options, group: "oracle.dev", version });
  return [inVersion(first), ...others.map(inVersion)];
}
