import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { PolicyRule, Subject } from "@virtual-workspaces/framework/authz";
import { Failure, UsageError } from "../process/failure.ts";
import type { ManifestsFlags } from "./flags.ts";
import { imported } from "./modules.ts";

const GROUP = "rbac.authorization.k8s.io";

/** Rights of `serve` itself in the workspace of its kubeconfig. */
const OF_SERVE: readonly PolicyRule[] = [
  { nonResourceURLs: ["/"], verbs: ["access"] }, // to enter the workspace
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] }, // of impersonation
];

const REMEDY =
  "Write `export const permissions: Permissions = [ … ]`, with the type from @virtual-workspaces/workspaces, and a rule for each right of the view, or `[]` if it needs none.";

/**
 * Returns the ClusterRole that the user of `serve` needs in the workspace of its kubeconfig, and the binding.
 *
 * @throws UsageError, Failure naming the module and the problem
 */
export async function readRbac(modules: readonly string[], flags: ManifestsFlags): Promise<readonly KubeObject[]> {
  const subjects = [...subjectsOf("User", flags.user), ...subjectsOf("Group", flags.group)];
  if (subjects.length === 0)
    throw new UsageError("--rbac needs --user or --group: set it to the user of the kubeconfig of serve");
  const rules = [...OF_SERVE];
  for (const name of modules) rules.push(...(await permissionsOf(name)));
  const { name = "virtual-workspaces-serve" } = flags;
  const common = { apiVersion: `${GROUP}/v1`, metadata: { name } };
  return [
    { ...common, kind: "ClusterRole", rules: distinct(rules) } as KubeObject,
    {
      ...common,
      kind: "ClusterRoleBinding",
      roleRef: { apiGroup: GROUP, kind: "ClusterRole", name },
      subjects,
    } as KubeObject,
  ];
}

function subjectsOf(kind: Subject["kind"], names: readonly string[] = []): readonly Subject[] {
  return names.map((name) => ({ kind, apiGroup: GROUP, name }));
}

async function permissionsOf(name: string): Promise<readonly PolicyRule[]> {
  const { permissions } = await imported(name);
  if (permissions === undefined) throw new Failure(`${name} has no export "permissions". ${REMEDY}`);
  if (!Array.isArray(permissions)) throw new Failure(`${name}: its export "permissions" is not a list. ${REMEDY}`);
  return permissions.map((rule: unknown, at) => {
    if (isRule(rule)) return rule;
    throw new Failure(
      `${name}: permissions[${at}] is no rule of a ClusterRole: give it verbs, and apiGroups with resources or nonResourceURLs`,
    );
  });
}

function isRule(value: unknown): value is PolicyRule {
  if (!isJsonObject(value)) return false;
  const { verbs, apiGroups, resources, nonResourceURLs } = value;
  return isTexts(verbs) && ((isTexts(apiGroups) && isTexts(resources)) || isTexts(nonResourceURLs));
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
}

function distinct(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
