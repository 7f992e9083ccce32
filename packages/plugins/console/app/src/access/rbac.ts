import type { KubernetesObject } from "../api/types.ts";
import type { Question } from "./reviews.ts";

export interface Role extends KubernetesObject {
  readonly rules?: readonly {
    readonly verbs?: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

export interface Binding extends KubernetesObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly RbacSubject[];
}

interface RbacSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** A subject to which a binding grants something. */
export interface Grant {
  readonly subject: RbacSubject;
  readonly binding: Binding;
  /** The role cannot be read, so it is not known whether it grants it. */
  readonly isUnknown: boolean;
}

/** Objects of RBAC that decide in one namespace. */
export interface RbacObjects {
  readonly clusterRoles: readonly Role[];
  readonly roles: readonly Role[];
  readonly bindings: readonly Binding[];
}

/** Kubernetes' role for everything, which workspaces bind without having it. */
const EVERYTHING: Role = {
  metadata: { name: "cluster-admin" },
  rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
};

/** Returns the subjects to which the bindings grant something, each once for each binding; those of unknown roles last. */
export function grantsOf(question: Question, { clusterRoles, roles, bindings }: RbacObjects): readonly Grant[] {
  const byName = (all: readonly Role[]) => new Map(all.map((one) => [one.metadata.name, one]));
  const known = { ClusterRole: byName([EVERYTHING, ...clusterRoles]), Role: byName(roles) };
  const all = bindings.flatMap((binding) => {
    const { kind, name } = binding.roleRef;
    const role = known[kind === "Role" ? "Role" : "ClusterRole"].get(name);
    if (role !== undefined && !grants(role, question)) return [];
    return (binding.subjects ?? []).map((subject) => ({ subject, binding, isUnknown: role === undefined }));
  });
  return all.sort((a, b) => Number(a.isUnknown) - Number(b.isUnknown));
}

/** Whether a role has a rule for a question, by the rules of Kubernetes' RBAC authorizer. */
function grants({ rules = [] }: Role, { verb, group, resource, subresource, name }: Question): boolean {
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  return rules.some(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      (has(rule.resources, whole) || (subresource !== "" && has(rule.resources, `*/${subresource}`))) &&
      ((rule.resourceNames ?? []).length === 0 || rule.resourceNames?.includes(name) === true),
  );
}

const has = (values: readonly string[] = [], value: string): boolean => values.includes("*") || values.includes(value);
