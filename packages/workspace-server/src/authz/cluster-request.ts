import type { AuthorizeRequest, User } from "@virtual-workspaces/framework";
import type { Named, RbacPolicy } from "@virtual-workspaces/framework/authz";
import { pathInfo } from "@virtual-workspaces/framework/request";
import { INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX } from "@virtual-workspaces/kcp/users";
import type { AuthorizerState } from "./authorizer-state.ts";
import { effectiveUsers } from "./effective-users.ts";

/** Parameters of `/clusters/:cluster`: the name of a logical cluster, or `*` for all. */
export interface ClusterParams {
  readonly cluster: string;
}

/** Returns the request to authorize before a user may enter a logical cluster: kcp's verb `access` on `/`. */
export function enteringQuestion(user: User, cluster: string): AuthorizeRequest<ClusterParams> {
  return { ...ENTERING, user, params: { cluster } };
}

const ENTERING: Omit<AuthorizeRequest<ClusterParams>, "user" | "params"> = {
  ...pathInfo("access", "/"),
  // The request is decided synchronously and never aborted.
  signal: new AbortController().signal,
};

/** Request on its way through the steps, with values that several steps need. */
export class ClusterRequest {
  readonly question: AuthorizeRequest<ClusterParams>;
  readonly state: AuthorizerState;
  /** Logical cluster; "" if the request has none or is for all. */
  readonly cluster: string;
  /** Whether to skip the steps that guard the workspace (kcp's deep SubjectAccessReview). */
  readonly deep: boolean;
  #users: readonly Named[] | undefined;

  constructor(question: AuthorizeRequest<ClusterParams>, state: AuthorizerState, deep: boolean) {
    const { cluster = "" } = question.params as Partial<ClusterParams>;
    this.question = question;
    this.state = state;
    this.cluster = cluster === "*" ? "" : cluster;
    this.deep = deep && question.group !== "authorization.k8s.io";
  }

  /** Users whose bindings count. */
  get users(): readonly Named[] {
    this.#users ??= effectiveUsers(this.question.user, this.cluster);
    return this.#users;
  }

  /** Reports whether one of {@link users} is in a group. */
  in(group: string): boolean {
    return this.users.some(({ groups }) => groups.includes(group));
  }

  /** Returns the policies of a logical cluster: its own and the replicated one. */
  policies(cluster: string): readonly RbacPolicy[] {
    return [this.state.policy(cluster), this.state.replicated?.(cluster)].filter((one) => one !== undefined);
  }
}

/** Prefixes of groups that the views of initializing and terminating workspaces add to authorized requests. */
export const LIFECYCLE_GROUP_PREFIXES: readonly string[] = [INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX];
