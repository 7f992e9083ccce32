import {
  fieldInvalid,
  fieldRequired,
  type JsonSchema,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { ComputedColumn } from "@virtual-workspaces/apimachinery/tables";
import { objects, texts } from "./descriptions.ts";
import { countOf, finalizerProblems, itemsOf } from "./problems.ts";

/** Validates the rules of a role. */
export function roleProblems(role: KubeObject, namespaced: boolean): StatusCause[] {
  const rules = itemsOf(role["rules"]).flatMap((rule, at) => ruleProblems(rule, `rules[${at}]`, namespaced));
  return [...finalizerProblems(role.metadata), ...rules];
}

function ruleProblems(rule: Readonly<Record<string, unknown>>, field: string, namespaced: boolean): StatusCause[] {
  const has = (name: string): boolean => countOf(rule[name]) > 0;
  const verbs = has("verbs") ? [] : [fieldRequired(`${field}.verbs`, "verbs must contain at least one value")];
  if (has("nonResourceURLs")) {
    const wrong = (detail: string): StatusCause =>
      fieldInvalid(`${field}.nonResourceURLs`, rule["nonResourceURLs"], detail);
    const both = ["apiGroups", "resources", "resourceNames"].some(has);
    return [
      ...verbs,
      ...(namespaced ? [wrong("namespaced rules cannot apply to non-resource URLs")] : []),
      ...(both ? [wrong("rules cannot apply to both regular resources and non-resource URLs")] : []),
    ];
  }
  const required = (name: string, detail: string): StatusCause[] => [fieldRequired(`${field}.${name}`, detail)];
  return [
    ...verbs,
    ...(has("apiGroups") ? [] : required("apiGroups", "resource rules must supply at least one api group")),
    ...(has("resources") ? [] : required("resources", "resource rules must supply at least one resource")),
    ...(has("resourceNames") && countOf(rule["resources"]) > 1
      ? required("resourceNames", "resource names cannot apply to multiple resources")
      : []),
  ];
}

export const rulesSchema: JsonSchema = {
  ...objects("Permissions of the role.", {
    verbs: texts("Verbs: get, list, watch, create, update, patch, delete, deletecollection and others; * for all."),
    apiGroups: texts('API groups: "" for the core group, * for all.'),
    resources: texts("Resources, such as pods, or pods/log for a subresource; * for all."),
    resourceNames: texts("Names of objects; empty for all."),
    nonResourceURLs: texts("Non-resource paths; /healthz/* for all paths below. Not together with resources."),
  }),
  nullable: true,
  default: null,
};

/** Creation time, which roles show instead of their age. */
export const createdAt: Omit<ComputedColumn, "name"> = {
  type: "string", // shown unchanged, although the format is a date
  advertisedType: "date",
  description: "Creation time.",
  value: ({ metadata }) => metadata.creationTimestamp ?? "",
};
