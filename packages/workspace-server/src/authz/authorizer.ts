import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  deny,
  User,
  union,
} from "@virtual-workspaces/framework";
import {
  type DecisionAnnotations,
  type Grant,
  grantedRules,
  type Rules,
  type RulesRequest,
} from "@virtual-workspaces/framework/authz";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { AuthorizerState } from "./authorizer-state.ts";
import { askChain, type ChainOutcome, passesGuards } from "./chain.ts";
import { type ClusterParams, ClusterRequest, enteringQuestion } from "./cluster-request.ts";
import { effectiveUsers } from "./effective-users.ts";

/** Name of an authorizer in {@link AuthorizationOptions.order}, as in kcp's `--authorization-order`. */
export type AuthorizerName = "AlwaysAllowGroups" | "AlwaysAllowPaths" | "RBAC";

const NAMES: readonly AuthorizerName[] = ["AlwaysAllowGroups", "AlwaysAllowPaths", "RBAC"];

/** How the requests of a workspace server are authorized. */
export interface AuthorizationOptions {
  /** Paths that every caller may request; a trailing `*` matches any suffix. @default `/healthz`, `/readyz`, `/livez` */
  readonly alwaysAllowPaths?: readonly string[];
  /**
   * Authorizers in order; the first that allows or denies decides, and omitted ones are not called. A function is an authorizer
   * of the caller, such as a webhook. It is called for each effective identity of a user (kcp's scopes and warrants) that is not
   * in `system:masters`.
   *
   * Security: a function before `RBAC` may allow what workspaces forbid, with access to all workspaces.
   *
   * A function instead of the list returns the current one, for a configuration that changes. It is called for each request, and
   * must return the same list until that changes.
   * @default AlwaysAllowGroups, AlwaysAllowPaths, RBAC
   */
  readonly order?: AuthorizationOrder | (() => AuthorizationOrder);
}

/** Authorizers in order, see {@link AuthorizationOptions.order}. */
export type AuthorizationOrder = readonly (AuthorizerName | Authorizer<ClusterParams>)[];

/** Options of {@link shardAuthorizer}. */
export interface ShardAuthorizerOptions extends AuthorizationOptions {
  readonly state: AuthorizerState;
  /** Groups whose members may do everything everywhere. @default `system:masters` */
  readonly alwaysAllowGroups?: readonly string[];
}

/** Authorizer of a shard, made by {@link shardAuthorizer}. */
export interface ShardAuthorizer extends Authorizer<ClusterParams> {
  /** Lists rules of bootstrap roles and the workspace; as in kcp, ignores access, required groups and exporters' policies. */
  readonly rules: (request: RulesRequest<ClusterParams>) => Rules;
  /**
   * Checks RBAC of a logical cluster, whether or not the user may enter it (kcp's deep SubjectAccessReview). Only for
   * the server's own checks and for `system:masters`.
   */
  readonly deep: Authorizer<ClusterParams>;
  /**
   * Reports whether a user may enter a logical cluster: has its required groups and access, which alone permit no
   * action there. Ignores authorizers of the caller. @throws what the state throws
   */
  readonly enters: (user: User, cluster: string) => boolean;
  /** Authorizer for SubjectAccessReviews: the same decisions, with kcp's audit annotations of reviews. */
  readonly review: Authorizer<ClusterParams>;
}

/**
 * Authorizes requests in the logical clusters of a shard, in kcp's order: required groups, access to the workspace, status of
 * bindings and exports, maximal permission policies, then RBAC of `system:admin`, of the workspace and the replicated one.
 * Scopes and warrants determine the effective users. Security: a denied caller sees only `access denied`; the reasons go to
 * audit annotations under `request.auth.kcp.io`. Synchronous unless the caller's authorizers are not or the state has to be loaded.
 *
 * @throws Error on an unknown name in the order, or an empty order
 */
export function shardAuthorizer(options: ShardAuthorizerOptions): ShardAuthorizer {
  const { state } = options;
  return Object.assign(inOrder(options, { domain: REQUEST, deep: false }), {
    rules: (request: RulesRequest<ClusterParams>) => rulesOf(state, request),
    deep: inOrder(options, { domain: REVIEW, deep: true }),
    enters: (user: User, cluster: string) => enters(options, user, cluster),
    review: inOrder(options, { domain: REVIEW, deep: false }),
  });
}

/** Only reason that a client sees. */
const DENIED = "access denied";
const REQUEST = "request.auth.kcp.io";
const REVIEW = "sar.auth.kcp.io";

interface AuthorizationMode {
  /** Domain of the audit annotations. */
  readonly domain: string;
  readonly deep: boolean;
}

function inOrder(options: ShardAuthorizerOptions, manner: AuthorizationMode): Authorizer<ClusterParams> {
  let order = orderOf(options);
  let authorizer = inThisOrder(order, options, manner);
  const current = (): Authorizer<ClusterParams> => {
    const now = orderOf(options);
    if (now !== order) [order, authorizer] = [now, inThisOrder(now, options, manner)];
    return authorizer;
  };
  // The function hides the union's `rules`, which would need those of all members; `rulesOf` lists the rules.
  return (question) => {
    const { cluster = "" } = question.params as Partial<ClusterParams>;
    const loading = options.state.load?.(cluster, question.group, question.resource);
    return loading === undefined ? current()(question) : loading.then(() => current()(question));
  };
}

function orderOf({ order = NAMES }: Pick<AuthorizationOptions, "order">): AuthorizationOrder {
  return typeof order === "function" ? order() : order;
}

function inThisOrder(
  order: AuthorizationOrder,
  options: ShardAuthorizerOptions,
  manner: AuthorizationMode,
): Authorizer<ClusterParams> {
  const unknown = order.find((one) => typeof one !== "function" && !NAMES.includes(one));
  if (unknown !== undefined)
    throw new Error(`invalid authorizer ${JSON.stringify(unknown)}: use ${NAMES.join(", ")}, or a function`);
  if (order.length === 0) throw new Error("invalid authorization order: name at least one authorizer");
  const members = order.map((one) => memberOf(one, options, manner));
  return union<ClusterParams>(...members, () => deny(DENIED));
}

function memberOf(
  name: AuthorizerName | Authorizer<ClusterParams>,
  options: ShardAuthorizerOptions,
  manner: AuthorizationMode,
): Authorizer<ClusterParams> {
  if (typeof name === "function") return perEffectiveUser(name);
  const { state, alwaysAllowGroups = [MASTERS_GROUP], alwaysAllowPaths = PATHS } = options;
  switch (name) {
    case "AlwaysAllowGroups":
      return ({ user }) => (alwaysAllowGroups.some((group) => user.in(group)) ? allow() : deny(""));
    case "AlwaysAllowPaths":
      return ({ isResource, path }) => (!isResource && isOneOf(alwaysAllowPaths, path) ? allow() : deny(""));
    case "RBAC":
      return (question) => decisionOf(askChain(new ClusterRequest(question, state, manner.deep)), manner.domain);
  }
}

function enters(options: ShardAuthorizerOptions, user: User, cluster: string): boolean {
  const { state, alwaysAllowGroups = [MASTERS_GROUP] } = options;
  const order = orderOf(options);
  if (order.includes("AlwaysAllowGroups") && alwaysAllowGroups.some((group) => user.in(group))) return true;
  return order.includes("RBAC") && passesGuards(new ClusterRequest(enteringQuestion(user, cluster), state, false));
}

const PATHS: readonly string[] = ["/healthz", "/readyz", "/livez"];

function isOneOf(patterns: readonly string[], path: string): boolean {
  return patterns.some((one) => (one.endsWith("*") ? path.startsWith(one.slice(0, -1)) : path === one));
}

function decisionOf(outcome: ChainOutcome, domain: string): Decision {
  return outcome.decision === "Allowed" ? new AllowedDecision(outcome, domain) : new DeniedDecision(outcome, domain);
}

class AuditedDecision {
  readonly #outcome: ChainOutcome;
  readonly #domain: string;

  constructor(outcome: ChainOutcome, domain: string) {
    this.#outcome = outcome;
    this.#domain = domain;
  }

  get annotations(): DecisionAnnotations {
    return this.#outcome.annotations(this.#domain);
  }
}

class AllowedDecision extends AuditedDecision {
  readonly allowed = true;
}

/** Keeps reasons out of the response. Security: they reveal whether a workspace exists and what entering it requires. */
class DeniedDecision extends AuditedDecision {
  readonly allowed = false;
  readonly reason = DENIED;
  readonly final: boolean;

  constructor(outcome: ChainOutcome, domain: string) {
    super(outcome, domain);
    this.final = outcome.decision === "Denied";
  }
}

function rulesOf(state: AuthorizerState, { user, params, namespace }: RulesRequest<ClusterParams>): Rules {
  const { cluster } = params;
  const users = effectiveUsers(user, cluster);
  const local: Iterable<Grant> = state.policy(cluster)?.grants(users, namespace, [state.bootstrap]) ?? [];
  return grantedRules([...state.bootstrap.grants(users, namespace), ...local]);
}

/** Calls an authorizer that knows neither scopes nor warrants for each effective identity; the first that allows decides. */
function perEffectiveUser(authorizer: Authorizer<ClusterParams>): Authorizer<ClusterParams> {
  return async (question) => {
    const { cluster } = question.params;
    const reasons = new Set<string>();
    for (const one of effectiveUsers(question.user, cluster)) {
      if (one.groups.includes(MASTERS_GROUP)) return allow();
      const user = one === question.user ? question.user : new User(one);
      const decision = await authorizer(asAsked(question, user));
      if (decision.allowed || decision.final === true) return decision;
      if (decision.reason !== "") reasons.add(decision.reason);
    }
    return deny([...reasons].join("; "));
  };
}

/** Copies field by field, since some fields are getters of the request's class. */
function asAsked(question: AuthorizeRequest<ClusterParams>, user: User): AuthorizeRequest<ClusterParams> {
  const { isResource, verb, path, group, version, resource, identity, subresource, namespace, name } = question;
  const { longRunning, upgrade, params, signal } = question;
  const names = { group, version, resource, identity, subresource, namespace, name };
  const info = { isResource, verb, path, ...names, longRunning, upgrade };
  return { ...info, user, params, signal };
}
