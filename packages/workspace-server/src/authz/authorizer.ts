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

/** One of the authorizers that {@link ShardAuthorizerOptions.order} names, as kcp's `--authorization-order` does. */
export type AuthorizerName = "AlwaysAllowGroups" | "AlwaysAllowPaths" | "RBAC" | "Webhook";

const ORDER: readonly AuthorizerName[] = ["AlwaysAllowGroups", "AlwaysAllowPaths", "RBAC", "Webhook"];

/** What a shard decides by: {@link shardAuthorizer}. */
export interface ShardAuthorizerOptions {
  readonly state: AuthorizerState;
  /** Groups whose members may do everything everywhere, with no further question. @default `system:masters` */
  readonly alwaysAllowGroups?: readonly string[];
  /** Paths that everybody may ask for, a `*` at the end for all that begin so. @default `/healthz`, `/readyz`, `/livez` */
  readonly alwaysAllowPaths?: readonly string[];
  /** Asked for each identity that counts (kcp's `--authorization-webhook-config-file`). @default nobody */
  readonly webhook?: Authorizer<ClusterParams>;
  /**
   * Who is asked, in which order; the first yes or final no decides. What is left out is not asked.
   *
   * @default AlwaysAllowGroups, AlwaysAllowPaths, RBAC, Webhook
   */
  readonly order?: readonly AuthorizerName[];
}

/** What {@link shardAuthorizer} makes. */
export interface ShardAuthorizer extends Authorizer<ClusterParams> {
  /** By bootstrap roles and the workspace's own: as in kcp without regard to access, required groups and exporters' policies. */
  readonly rules: (request: RulesRequest<ClusterParams>) => Rules;
  /**
   * Decides what RBAC of a logical cluster says, whether or not the user may enter it: kcp's deep SubjectAccessReview. Only
   * for what the server itself wants to know, and for `system:masters`.
   */
  readonly deep: Authorizer<ClusterParams>;
  /**
   * Whether somebody may enter a logical cluster: is past its required groups and has access, by which nobody can do anything
   * there yet. Of what a webhook allows it knows nothing. @throws what the state throws
   */
  readonly enters: (user: User, cluster: string) => boolean;
  /** The same two for SubjectAccessReviews: their audit annotations are kcp's of reviews. */
  readonly review: Authorizer<ClusterParams>;
}

/**
 * Who may do what in the logical clusters of a shard, decided as kcp does: required groups, access to the workspace, status
 * of bindings and exports, maximal permission policies, then RBAC of `system:admin`, of the workspace and of what is
 * replicated, for users as their scopes and warrants have them. Whoever is refused learns `access denied` and no more; the
 * reasons go to audit annotations under `request.auth.kcp.io`. Synchronous unless there is a webhook, or the state has to be
 * loaded.
 *
 * @throws Error on an order that names what there is not, or names something twice
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

/** All that a client learns. */
const DENIED = "access denied";
const REQUEST = "request.auth.kcp.io";
const REVIEW = "sar.auth.kcp.io";

interface AuthorizationMode {
  /** Of the audit annotations. */
  readonly domain: string;
  readonly deep: boolean;
}

function inOrder(options: ShardAuthorizerOptions, manner: AuthorizationMode): Authorizer<ClusterParams> {
  const { order = ORDER } = options;
  if (order.length === 0 || new Set(order).size < order.length || order.some((name) => !ORDER.includes(name)))
    throw new Error(`authorization order: name some of ${ORDER.join(", ")}, each once; not ${order.join(", ")}`);
  const members = order.flatMap((name) => memberOf(name, options, manner) ?? []);
  const asked = union<ClusterParams>(...members, () => deny(DENIED));
  // A union has rules if all its members have some; whose are to be listed is said elsewhere.
  return (question) => {
    const { cluster = "" } = question.params as Partial<ClusterParams>;
    const loading = options.state.load?.(cluster, question.group, question.resource);
    return loading === undefined ? asked(question) : loading.then(() => asked(question));
  };
}

function memberOf(
  name: AuthorizerName,
  options: ShardAuthorizerOptions,
  manner: AuthorizationMode,
): Authorizer<ClusterParams> | undefined {
  const { state, webhook, alwaysAllowGroups = [MASTERS_GROUP], alwaysAllowPaths = PATHS } = options;
  switch (name) {
    case "AlwaysAllowGroups":
      return ({ user }) => (alwaysAllowGroups.some((group) => user.in(group)) ? allow() : deny(""));
    case "AlwaysAllowPaths":
      return ({ isResource, path }) => (!isResource && isOneOf(alwaysAllowPaths, path) ? allow() : deny(""));
    case "RBAC":
      return (question) => decisionOf(askChain(new ClusterRequest(question, state, manner.deep)), manner.domain);
    case "Webhook":
      return webhook && perEffectiveUser(webhook);
  }
}

function enters(
  { state, alwaysAllowGroups = [MASTERS_GROUP], order = ORDER }: ShardAuthorizerOptions,
  user: User,
  cluster: string,
): boolean {
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

/** What is a secret is kept: whether there is such a workspace, and what it would take to enter. */
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

/** Asks an authorizer that knows neither scopes nor warrants about each identity that counts; the first yes decides. */
function perEffectiveUser(webhook: Authorizer<ClusterParams>): Authorizer<ClusterParams> {
  return async (question) => {
    const { cluster } = question.params;
    const reasons = new Set<string>();
    for (const one of effectiveUsers(question.user, cluster)) {
      const user = one === question.user ? question.user : new User(one);
      const decision = await webhook(asAsked(question, user));
      if (decision.allowed || decision.final === true) return decision;
      if (decision.reason !== "") reasons.add(decision.reason);
    }
    return deny([...reasons].join("; "));
  };
}

/** Field by field: some of a question are getters of its class. */
function asAsked(question: AuthorizeRequest<ClusterParams>, user: User): AuthorizeRequest<ClusterParams> {
  const { isResource, verb, path, group, version, resource, identity, subresource, namespace, name } = question;
  const { longRunning, upgrade, params, signal } = question;
  const names = { group, version, resource, identity, subresource, namespace, name };
  const info = { isResource, verb, path, ...names, longRunning, upgrade };
  return { ...info, user, params, signal };
}
