import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTypeInvalid,
  formatCauses,
  isJsonObject,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { type AuditPolicy, type AuditResources, type AuditRule, LEVELS, STAGES } from "./policy.ts";

type Form = Readonly<Record<string, "text" | "texts" | "boolean" | "object" | "list">>;

const POLICY: Form = {
  apiVersion: "text",
  kind: "text",
  metadata: "object",
  rules: "list",
  omitStages: "texts",
  omitManagedFields: "boolean",
};
const RULE: Form = {
  level: "text",
  users: "texts",
  userGroups: "texts",
  verbs: "texts",
  resources: "list",
  namespaces: "texts",
  nonResourceURLs: "texts",
  omitStages: "texts",
  omitManagedFields: "boolean",
};
const RESOURCES: Form = { group: "text", resources: "texts", resourceNames: "texts" };

/**
 * Checks a policy as Kubernetes does, and what it only warns of too: an unknown field is a rule that does not say what
 * its author thinks.
 *
 * @throws Error with the path of each field that is wrong
 */
export function checkPolicy(value: unknown): AuditPolicy {
  if (!isJsonObject(value)) throw new Error("audit policy: it must be an object");
  const { apiVersion, kind } = value as Partial<AuditPolicy>;
  if (apiVersion !== "audit.k8s.io/v1" || kind !== "Policy")
    throw new Error("audit policy: it must begin with apiVersion: audit.k8s.io/v1 and kind: Policy");
  const misshapen = formOf(value);
  if (misshapen.length > 0) throw new Error(`audit policy: ${formatCauses(misshapen)}`);
  const policy = value as unknown as AuditPolicy;
  const causes = [
    ...stageProblems(policy.omitStages, "omitStages"),
    ...policy.rules.flatMap((rule, at) => ruleProblems(rule, `rules[${at}]`)),
  ];
  if (causes.length > 0) throw new Error(`audit policy: ${formatCauses(causes)}`);
  if (policy.rules.length === 0) throw new Error("audit policy: loaded illegal policy with 0 rules");
  return policy;
}

/** What is not of the type that it should be, or unknown. */
function formOf(value: object): StatusCause[] {
  const causes = problemsOf(value, "", POLICY);
  const { rules } = value as { readonly rules?: unknown };
  if (rules === undefined) return [...causes, fieldRequired("rules")];
  for (const [at, rule] of listOf(rules).entries()) {
    causes.push(...problemsOf(rule, `rules[${at}]`, RULE));
    for (const [of, resources] of listOf((rule as Partial<AuditRule> | null)?.resources).entries())
      causes.push(...problemsOf(resources, `rules[${at}].resources[${of}]`, RESOURCES));
  }
  return causes;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function problemsOf(value: unknown, path: string, form: Form): StatusCause[] {
  if (!isJsonObject(value)) return [fieldTypeInvalid(path, typeof value, "must be an object")];
  return Object.entries(value).flatMap(([name, field]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const wanted = Object.hasOwn(form, name) ? form[name] : undefined;
    if (wanted === undefined) return [{ message: `unknown field "${at}"` }];
    return field === undefined || isOf(field, wanted) ? [] : [fieldTypeInvalid(at, typeof field, WORDS[wanted])];
  });
}

const WORDS: Readonly<Record<Form[string], string>> = {
  text: "must be a string",
  texts: "must be a list of strings",
  boolean: "must be true or false",
  object: "must be an object",
  list: "must be a list",
};

function isOf(value: unknown, form: Form[string]): boolean {
  if (form === "text") return typeof value === "string";
  if (form === "boolean") return typeof value === "boolean";
  if (form === "object") return isJsonObject(value);
  return Array.isArray(value) && (form === "list" || value.every((one) => typeof one === "string"));
}

function ruleProblems(rule: AuditRule, path: string): StatusCause[] {
  const { level, nonResourceURLs = [], resources = [], namespaces = [] } = rule;
  const both = nonResourceURLs.length > 0 && resources.length + namespaces.length > 0;
  const mixed = "rules cannot apply to both regular resources and non-resource URLs";
  return [
    ...levelProblems(level, `${path}.level`),
    ...nonResourceURLs.flatMap((url, at) => urlProblems(url, `${path}.nonResourceURLs[${at}]`)),
    ...resources.flatMap((one) => resourcesProblems(one, `${path}.resources`)),
    ...stageProblems(rule.omitStages, `${path}.omitStages`),
    ...(both ? [fieldInvalid(`${path}.nonResourceURLs`, nonResourceURLs, mixed)] : []),
  ];
}

function levelProblems(level: string | undefined, path: string): StatusCause[] {
  if (level === undefined || level === "") return [fieldRequired(path)];
  return (LEVELS as readonly string[]).includes(level) ? [] : [fieldNotSupported(path, level, LEVELS)];
}

function urlProblems(url: string, path: string): StatusCause[] {
  if (url === "*") return [];
  const causes: StatusCause[] = [];
  if (!url.startsWith("/"))
    causes.push(fieldInvalid(path, url, "non-resource URL rules must begin with a '/' character"));
  if (url.slice(0, -1).includes("*"))
    causes.push(fieldInvalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  return causes;
}

function resourcesProblems(
  { group = "", resources = [], resourceNames = [] }: AuditResources,
  path: string,
): StatusCause[] {
  const bad = group === "" || group === "*" ? [] : nameProblems(group);
  const causes = bad.length > 0 ? [fieldInvalid(`${path}.group`, group, bad.join(","))] : [];
  if (resourceNames.length > 0 && resources.length === 0)
    causes.push(
      fieldInvalid(`${path}.resourceNames`, resourceNames, "using resourceNames requires at least one resource"),
    );
  return causes;
}

function stageProblems(stages: readonly string[] = [], path: string): StatusCause[] {
  const known: readonly string[] = STAGES;
  return stages.flatMap((stage, at) =>
    known.includes(stage) ? [] : [fieldInvalid(`${path}[${at}]`, stage, `allowed stages are ${known.join(",")}`)],
  );
}
