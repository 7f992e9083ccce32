import type { ResourceDefinition } from "../definition.ts";
import type { KindRules } from "./rules.ts";

/** The rules of a definition's schema, compiled once for each definition. */
export function kindRules(_definition: ResourceDefinition): KindRules {
  return {
    prune: () => [],
    fillDefaults: () => undefined,
    problems: () => [],
    fields: { update: ({ next }) => next, apply: ({ config, live }) => ({ ...live, ...config }) },
  };
}
