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
 * Validates a policy as Kubernetes does, and rejects what Kubernetes only warns about: with an unknown field, a rule does not
 * mean what its author thinks.
 *
 * @throws Error with the path of each invalid field
 */
export function checkPolicy(value: unknown): AuditPolicy {
  if (!isJsonObject(value)) throw new Error("invalid audit policy: use an object");
  const { apiVersion, kind } = value as Partial<AuditPolicy>;
  if (apiVersion !== "audit.k8s.io/v1" || kind !== "Policy")
    throw new Error("invalid audit policy: begin with apiVersion: audit.k8s.io/v1 and kind: Policy");
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

/** Returns fields that are unknown or of the wrong type. */
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

/** Level of an event: none; metadata; with the request body; with the request and response bodies. */
export type AuditLevel = "None" | "Metadata" | "Request" | "RequestResponse";

/** Stage of an event: after authentication; when a long-running response has begun; at the end; after an internal failure. */
export type AuditStage = "RequestReceived" | "ResponseStarted" | "ResponseComplete" | "Panic";

/** Kubernetes' `audit.k8s.io/v1` Policy: the first matching rule counts; a request that matches none is not audited. */
export interface AuditPolicy {
  readonly apiVersion: "audit.k8s.io/v1";
  readonly kind: "Policy";
  readonly metadata?: object;
  readonly rules: readonly AuditRule[];
  /** Stages without events. */
  readonly omitStages?: readonly AuditStage[];
  /** Whether to omit `metadata.managedFields` from recorded objects. @default false */
  readonly omitManagedFields?: boolean;
}

/** A rule, which matches when all its criteria do. It is about resources or about other paths, not both. */
export interface AuditRule {
  readonly level: AuditLevel;
  /** Authenticated users; impersonated ones do not count. @default all */
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly AuditResources[];
  /** Namespaces; `""` is for objects without one. */
  readonly namespaces?: readonly string[];
  /** Paths as a client of one view sees them (`/apis*`) or in full (`/services/quotes/*`); `*` at the end only. */
  readonly nonResourceURLs?: readonly string[];
  /** Stages in addition to those of the policy. */
  readonly omitStages?: readonly AuditStage[];
  /** @default the policy's */
  readonly omitManagedFields?: boolean;
}

/** Resources of one API group. */
export interface AuditResources {
  /** API group; `""` is the core group, `*` any. @default "" */
  readonly group?: string;
  /**
   * Resources: `quotes`, `quotes/status`, `quotes/*` for all its subresources, `*` for everything; a star, a slash and a name
   * for the subresource of any.
   * @default all
   */
  readonly resources?: readonly string[];
  /** Names of objects; needs `resources`. @default all */
  readonly resourceNames?: readonly string[];
}

export const LEVELS: readonly AuditLevel[] = ["None", "Metadata", "Request", "RequestResponse"];
const STAGES: readonly AuditStage[] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];
