import {
  type KubeObject,
  nameProblems,
  type ObjectMetaRules,
  objectMetaProblems,
  objectMetaUpdateProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";

/** What is wrong with an object's metadata; `before` is what it replaces. */
export function metadataProblems(
  { metadata }: KubeObject,
  before: KubeObject | undefined,
  definition: ResourceDefinition,
): StatusCause[] {
  const problems = objectMetaProblems(metadata, rulesOf(definition));
  return before === undefined ? problems : [...problems, ...objectMetaUpdateProblems(metadata, before.metadata)];
}

function rulesOf({ scope }: ResourceDefinition): ObjectMetaRules {
  return scope === "Namespaced" ? NAMESPACED : CLUSTER;
}

/** Behind a prefix something is to follow, so that it may end in a dash. */
function subdomain(text: string, prefix: boolean): readonly string[] {
  return nameProblems(prefix && text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

const NAMESPACED: ObjectMetaRules = { namespaced: true, name: subdomain };
const CLUSTER: ObjectMetaRules = { namespaced: false, name: subdomain };
