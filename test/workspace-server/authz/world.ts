// State of a shard for its authorizer: logical clusters, RBAC objects and bindings, which tests change.
import { type AuthorizeRequest, type Decision, type Identity, User } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { DecisionAnnotations, PolicyRule, RbacObject, Subject } from "@virtual-workspaces/framework/authz";
import type { ClusterParams } from "@virtual-workspaces/workspace-server";
import { type ShardAuthorizer, shardAuthorizer } from "../../../packages/workspace-server/src/authz/authorizer.ts";
import type {
  AuthorizerState,
  BoundResource,
  LogicalClusterState,
} from "../../../packages/workspace-server/src/authz/authorizer-state.ts";
import { bootstrapRoles } from "../../../packages/workspace-server/src/authz/bootstrap-roles.ts";
import { RbacPolicies } from "../../../packages/workspace-server/src/authz/rbac-policies.ts";
import { asked } from "../../_support/asked.ts";

export const SCOPES = "authentication.kcp.io/scopes";
export const HOME = "authentication.kcp.io/cluster-name";
export const WARRANT = "authorization.kcp.io/warrant";

/** State of independent logical clusters; `c` is Ready, and Ada is its admin. */
export class World implements AuthorizerState {
  readonly policies = new RbacPolicies();
  readonly elsewhere = new RbacPolicies();
  readonly clusters = new Map<string, LogicalClusterState>();
  readonly bound = new Map<string, BoundResource>();
  readonly authorizer: ShardAuthorizer = shardAuthorizer({ state: this });

  constructor() {
    for (const object of bootstrapRoles) this.policies.set("system:admin", object);
    this.workspace("c");
  }

  get bootstrap() {
    return this.policies.bootstrap;
  }

  policy(cluster: string) {
    return this.policies.of(cluster);
  }

  replicated(cluster: string) {
    return this.elsewhere.of(cluster);
  }

  logicalCluster(cluster: string): LogicalClusterState | undefined {
    return this.clusters.get(cluster);
  }

  binding(cluster: string, group: string, resource: string): BoundResource | undefined {
    return this.bound.get(`${cluster} ${resource}.${group}`);
  }

  /** Adds a workspace with its admin. */
  workspace(cluster: string, state: Partial<LogicalClusterState> = {}): void {
    this.clusters.set(cluster, { phase: "Ready", ...state });
    this.bind(cluster, "workspace-admin", { to: "cluster-admin", subject: person("ada") });
  }

  bind(cluster: string, name: string, options: { to: string; subject: Subject; namespace?: string; role?: boolean }) {
    this.policies.set(cluster, bindingOf(name, options));
  }

  role(cluster: string, name: string, ...rules: readonly PolicyRule[]): void {
    this.policies.set(cluster, { kind: "ClusterRole", metadata: { name }, rules });
  }

  /** Grants access to the workspace only. */
  admit(cluster: string, subject: Subject): void {
    this.bind(cluster, `access-${subject.name.replaceAll(/[^a-z0-9.-]/gi, "-")}`, { to: ACCESS, subject });
  }

  decide(user: User, about: About): Decision {
    return decisionOf(this.authorizer(questionOf(user, about)));
  }

  decideDeep(user: User, about: About): Decision {
    return decisionOf(this.authorizer.deep(questionOf(user, about)));
  }

  may(user: User, about: About): boolean {
    return this.decide(user, about).allowed;
  }

  /** Returns the reasons of the steps that ran, by key. */
  told(user: User, about: About): Readonly<Record<string, string>> {
    return toldBy(this.decide(user, about).annotations ?? {});
  }
}

export const ACCESS = "system:kcp:workspace:access";

/** Request attributes; the logical cluster is `c` by default. */
export type About = Partial<Omit<AuthorizeRequest<ClusterParams>, "params">> & { readonly cluster?: string };

export function questionOf(user: User, { cluster = "c", ...about }: About): AuthorizeRequest<ClusterParams> {
  return { ...asked(user, about), params: { cluster } };
}

function decisionOf(decision: Decision | Promise<Decision>): Decision {
  if (decision instanceof Promise) throw new Error("the shard's authorizer is synchronous");
  return decision;
}

export function toldBy(annotations: DecisionAnnotations): Readonly<Record<string, string>> {
  const steps = Object.entries(annotations).filter(([key]) => key.endsWith("-decision"));
  return Object.fromEntries(
    steps.map(([key, decision]) => {
      const reason = annotations[key.replace(/-decision$/, "-reason")] ?? "";
      return [key.replace(/^.*\/(.*)-decision$/, "$1"), `${decision}: ${reason}`];
    }),
  );
}

export const person = (name: string): Subject => ({ kind: "User", name });
export const team = (name: string): Subject => ({ kind: "Group", name });
export const account = (name: string, namespace = "default"): Subject => ({ kind: "ServiceAccount", name, namespace });

export function bindingOf(
  name: string,
  options: { to: string; subject: Subject; namespace?: string; role?: boolean },
): RbacObject {
  const { to, subject, namespace, role = false } = options;
  const subjects = [subject];
  if (namespace === undefined)
    return { kind: "ClusterRoleBinding", metadata: { name }, roleRef: { kind: "ClusterRole", name: to }, subjects };
  const kind = role ? "Role" : "ClusterRole";
  return { kind: "RoleBinding", metadata: { name, namespace }, roleRef: { kind, name: to }, subjects };
}

/** Returns an authenticated user. */
export function login(name: string, more: Partial<Identity> = {}): User {
  return authenticatedUser({ name, ...more });
}

/** Returns a service account, as authenticated by its token. */
export function robot(name = "robot", home?: string, more: Partial<Identity> = {}): User {
  const groups = ["system:serviceaccounts", "system:serviceaccounts:default", ...(more.groups ?? [])];
  const extra = { ...(home !== undefined && { [HOME]: [home] }), ...more.extra };
  return authenticatedUser({ ...more, name: `system:serviceaccount:default:${name}`, groups, extra });
}

/** Returns a user without the group of authenticated users. */
export function bare(name: string, more: Partial<Identity> = {}): User {
  return new User({ name, ...more });
}

export const PODS = { group: "", resource: "pods", version: "v1" } as const;
export const READ_PODS: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
