import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource, type ResourceOptions } from "@virtual-workspaces/framework";

/** As a CustomResourceDefinition has them. */
export interface Subresources {
  readonly status?: boolean;
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

export type KindOptions = Omit<ResourceOptions<JsonSchema, JsonSchema, JsonSchema>, "group" | "version"> & {
  readonly subresources?: Subresources;
  /** @default one, `v1`; the first is the one that is stored */
  readonly versions?: readonly string[];
};

/** A kind that both sides serve, in each of its versions. */
export interface DifferentialKind {
  readonly resources: readonly [Resource, ...Resource[]];
  readonly subresources: Subresources;
}

/** A kind of the group `oracle.dev`. */
export function kind({ versions = ["v1"], subresources = {}, ...options }: KindOptions): DifferentialKind {
  const resourceOf = (version: string): Resource => {
    const whole = { ...options, subresources, group: "oracle.dev", version };
    return new Resource(whole);
  };
  const [first = "v1", ...others] = versions;
  return { resources: [resourceOf(first), ...others.map(resourceOf)], subresources };
}
