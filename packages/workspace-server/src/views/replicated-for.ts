import type { PolicyRule } from "@virtual-workspaces/framework";
import {
  APIS_GROUP,
  BINDING_SUBJECT_PREFIX,
  CORE_GROUP,
  SYSTEM_ADMIN_CLUSTER,
  TENANCY_GROUP,
} from "@virtual-workspaces/kcp";
import type { BindingContent, RoleContent } from "../kinds/rbac.ts";
import type { ShardState } from "../state/shard-state.ts";

/** The API groups for whose sake something of a logical cluster is replicated, sorted, as kcp's annotation lists them. */
export type ReplicatedFor = readonly string[];

interface Rules {
  readonly rules?: RoleContent["rules"] | undefined;
}

type State = Pick<ShardState, "rbac" | "apiExports" | "workspaceTypes">;

/** A logical cluster with exports or workspace types: others ask who may enter it. */
export function clusterReplicatedFor(state: State, cluster: string): ReplicatedFor {
  return [
    ...(state.apiExports.store.keysIn(cluster).length > 0 ? [APIS_GROUP] : []),
    ...(state.workspaceTypes.store.keysIn(cluster).length > 0 ? [TENANCY_GROUP] : []),
  ];
}

/** A ClusterRole that says something of these, or is bound to whom an export's maximal permission policy is about. */
export function roleReplicatedFor(
  state: State,
  cluster: string,
  { name, rules }: Rules & { readonly name: string },
): ReplicatedFor {
  const own = rulesReplicatedFor(state, cluster, { rules });
  if (own.includes(APIS_GROUP)) return own;
  const bound = state.rbac.clusterRoleBindings.store
    .list(cluster)
    .some((binding) => binding.roleRef.name === name && namesBound(binding));
  return bound ? [APIS_GROUP, ...own] : own;
}

/** A ClusterRoleBinding of such a role, its own logical cluster's or else a shipped one, or of those whom a policy is about. */
export function bindingReplicatedFor(state: State, cluster: string, binding: BindingContent): ReplicatedFor {
  const { kind, name, apiGroup } = binding.roleRef;
  const find = (place: string): Rules | undefined =>
    state.rbac.clusterRoles.store.get({ cluster: place, namespace: "", name });
  const isRole = kind === "ClusterRole" && apiGroup === "rbac.authorization.k8s.io";
  const role = isRole ? (find(cluster) ?? find(SYSTEM_ADMIN_CLUSTER)) : undefined;
  const own = role === undefined ? [] : rulesReplicatedFor(state, cluster, role);
  return own.includes(APIS_GROUP) || !namesBound(binding) ? own : [APIS_GROUP, ...own];
}

function rulesReplicatedFor(state: State, cluster: string, { rules }: Rules): ReplicatedFor {
  const all = rules ?? [];
  return [
    ...(all.some(isOfExports) ? [APIS_GROUP] : []),
    ...(all.some(isEntry) && clusterReplicatedFor(state, cluster).length > 0 ? [CORE_GROUP] : []),
    ...(all.some(isOfTypes) ? [TENANCY_GROUP] : []),
  ];
}

function isOfExports(rule: PolicyRule): boolean {
  if (!has(rule.apiGroups, APIS_GROUP)) return false;
  return has(rule.resources, "apiexports/content") || (has(rule.resources, "apiexports") && has(rule.verbs, "bind"));
}

function isOfTypes({ apiGroups, resources, verbs }: PolicyRule): boolean {
  return (
    has(apiGroups, TENANCY_GROUP) && has(resources, "workspacetypes") && has(verbs, "use", "initialize", "terminate")
  );
}

function isEntry({ nonResourceURLs, verbs }: PolicyRule): boolean {
  return has(nonResourceURLs, "/", "/*") && has(verbs, "access");
}

/** Whether one of these is named, or all are. */
function has(texts: readonly string[] | null | undefined, ...wanted: readonly string[]): boolean {
  return texts?.some((text) => text === "*" || wanted.includes(text)) === true;
}

function namesBound({ subjects }: BindingContent): boolean {
  return (subjects ?? []).some(
    ({ kind, name, apiGroup }) =>
      name.startsWith(BINDING_SUBJECT_PREFIX) &&
      (kind === "User" || kind === "Group") &&
      apiGroup === "rbac.authorization.k8s.io",
  );
}
