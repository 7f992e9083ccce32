import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { Admit, AdmitRequest, AuthorizeRequest, Authorizer } from "@virtual-workspaces/framework";
import type {
  ClusterRole,
  ClusterRoleBinding,
  Grant,
  PolicyRule,
  RbacObject,
  RbacPolicy,
  Role,
  RoleBinding,
} from "@virtual-workspaces/framework/authz";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { AuthorizerState } from "./authorizer-state.ts";
import type { ClusterParams } from "./cluster-request.ts";
import { effectiveUsers } from "./effective-users.ts";
import { describeRules, goTexts, uncovered } from "./rule-coverage.ts";

/** Options of {@link roleEscalation}. */
export interface RoleEscalationOptions {
  readonly state: AuthorizerState;
  /** Authorizer for the verbs `escalate` and `bind`: the shard's, see {@link shardAuthorizer}. */
  readonly authorizer: Authorizer<ClusterParams>;
}

const GROUP = "rbac.authorization.k8s.io";
const PLURALS: Readonly<Record<RbacObject["kind"], string>> = {
  Role: "roles",
  ClusterRole: "clusterroles",
  RoleBinding: "rolebindings",
  ClusterRoleBinding: "clusterrolebindings",
};
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Admits roles and bindings only if they grant no more than the user has (Kubernetes' escalation check). Without the
 * verb `escalate`, a user can write only rules that the user holds; without `bind`, a user can bind only such roles.
 * Aggregation rules require all permissions. `system:masters` may do everything. Throws 403, and 404 for a binding to a
 * role that does not exist.
 */
export function roleEscalation(options: RoleEscalationOptions): Admit {
  return (request) => {
    const { operation, object, subresource, user, oldObject } = request;
    if (operation === "DELETE" || object === undefined || subresource !== "" || user.in(MASTERS_GROUP))
      return undefined;
    if (!Object.hasOwn(PLURALS, object.kind) || onlyOwnersChanged(object, oldObject)) return undefined;
    return new Attempt(request, options).check();
  };
}

class Attempt {
  readonly #request: AdmitRequest;
  readonly #options: RoleEscalationOptions;
  readonly #object: RbacObject;
  readonly #cluster: string;
  readonly #namespace: string;

  constructor(request: AdmitRequest, options: RoleEscalationOptions) {
    this.#request = request;
    this.#options = options;
    this.#object = request.object as unknown as RbacObject;
    this.#cluster = request.params["cluster"] ?? "";
    this.#namespace = this.#object.metadata.namespace ?? "";
  }

  async check(): Promise<undefined> {
    const object = this.#object;
    if (object.kind === "Role" || object.kind === "ClusterRole") await this.#checkRole(object);
    else await this.#checkBinding(object);
    return undefined;
  }

  async #checkRole(role: Role | ClusterRole): Promise<void> {
    const name = this.#request.operation === "CREATE" ? "" : role.metadata.name;
    if (await this.#may("escalate", { resource: PLURALS[role.kind], name, namespace: this.#namespace })) return;
    this.#mustHold(role.rules ?? []);
    const aggregates = hasAggregation(role) || hasAggregation(this.#request.oldObject);
    if (aggregates && this.#lacking(EVERYTHING).length > 0)
      throw this.#forbidden("must have cluster-admin privileges to use the aggregationRule");
  }

  async #checkBinding(binding: RoleBinding | ClusterRoleBinding): Promise<void> {
    const { kind, name } = binding.roleRef;
    const resource = kind === "Role" ? "roles" : "clusterroles";
    if (await this.#may("bind", { resource, name, namespace: this.#namespace })) return;
    const [own = this.#options.state.bootstrap, ...also] = this.#policies();
    const rules = own.roleRules(binding, also);
    if (typeof rules === "string") throw ApiError.notFound({ group: GROUP, resource }, name);
    this.#mustHold(rules.flat());
  }

  async #may(verb: string, about: Pick<AuthorizeRequest, "resource" | "name" | "namespace">): Promise<boolean> {
    const { user, signal } = this.#request;
    const decision = await this.#options.authorizer({
      isResource: true,
      verb,
      path: "",
      group: GROUP,
      version: "v1",
      identity: "",
      subresource: "",
      ...about,
      longRunning: false,
      upgrade: false,
      user,
      params: { cluster: this.#cluster },
      signal,
    });
    return decision.allowed;
  }

  #mustHold(rules: readonly PolicyRule[]): void {
    const lacking = this.#lacking(rules);
    if (lacking.length === 0) return;
    const { name, groups } = this.#request.user;
    const missing = [
      ...new Set(this.#grants().flatMap(({ rules: found }) => (typeof found === "string" ? found : []))),
    ];
    const errors = missing.length > 1 ? `[[${missing.join(", ")}]]` : `[${missing.join("")}]`;
    throw this.#forbidden(
      `user ${JSON.stringify(name)} (groups=${goTexts(groups)}) is attempting to grant RBAC permissions not currently held:\n` +
        `${describeRules(lacking)}${missing.length === 0 ? "" : `; resolution errors: ${errors}`}`,
    );
  }

  #lacking(rules: readonly PolicyRule[]): readonly PolicyRule[] {
    const held = this.#grants().flatMap(({ rules: found }) => (typeof found === "string" ? [] : found));
    return uncovered(rules, held);
  }

  /** Returns the user's grants where the role is: by the workspace's bindings and those of `system:admin`. */
  #grants(): readonly Grant[] {
    const { bootstrap } = this.#options.state;
    const users = effectiveUsers(this.#request.user, this.#cluster);
    return this.#policies().flatMap((policy) => [
      ...policy.grants(users, this.#namespace, policy === bootstrap ? [] : [bootstrap]),
    ]);
  }

  #policies(): readonly RbacPolicy[] {
    const { state } = this.#options;
    const policy = state.policy(this.#cluster);
    return policy === undefined || policy === state.bootstrap ? [state.bootstrap] : [policy, state.bootstrap];
  }

  #forbidden(message: string): ApiError {
    const { kind, metadata } = this.#object;
    return ApiError.forbidden({ resource: { group: GROUP, resource: PLURALS[kind] }, name: metadata.name, message });
  }
}

function hasAggregation(role: Role | ClusterRole | KubeObject | undefined): boolean {
  const { aggregationRule } = (role ?? {}) as Partial<ClusterRole>;
  return (aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

/** Reports whether an update changes only owners and finalizers (Kubernetes' `IsOnlyMutatingGCFields`). */
function onlyOwnersChanged(object: KubeObject, oldObject: KubeObject | undefined): boolean {
  return oldObject !== undefined && equalJson(withoutOwners(object), withoutOwners(oldObject));
}

function withoutOwners({ metadata, ...object }: KubeObject): object {
  const {
    ownerReferences: _,
    finalizers: _f,
    managedFields: _m,
    resourceVersion: _r,
    generation: _g,
    ...rest
  } = metadata;
  return { ...object, metadata: rest };
}
