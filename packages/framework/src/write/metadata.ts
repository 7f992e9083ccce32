import {
  dnsLabelProblems,
  type KubeObject,
  nameProblems,
  type ObjectMetaRules,
  objectMetaProblems,
  objectMetaUpdateProblems,
  pathSegmentProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { Strategy } from "../strategy.ts";

/** What is wrong with an object's metadata; `before` is what it replaces. */
export function metadataProblems(
  { metadata }: KubeObject,
  before: KubeObject | undefined,
  definition: ResourceDefinition,
): StatusCause[] {
  const problems = objectMetaProblems(metadata, rulesOf(definition));
  return before === undefined ? problems : [...problems, ...objectMetaUpdateProblems(metadata, before.metadata)];
}

function rulesOf({ scope, strategy }: ResourceDefinition): ObjectMetaRules {
  return { namespaced: scope === "Namespaced", name: NAMES[strategy?.names ?? "subdomain"] };
}

type NameRule = ObjectMetaRules["name"];

/** Behind a prefix something is to follow, so that it may end in a dash. */
function dns(problems: (text: string) => string[]): NameRule {
  return (text, prefix) => problems(prefix && text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

const NAMES: Readonly<Record<NonNullable<Strategy["names"]>, NameRule>> = {
  subdomain: dns(nameProblems),
  label: dns(dnsLabelProblems),
  segment: pathSegmentProblems,
};
