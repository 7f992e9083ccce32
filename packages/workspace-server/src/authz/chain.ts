import type { User } from "@virtual-workspaces/framework";
import type { DecisionAnnotations, RbacPolicy } from "@virtual-workspaces/framework/authz";
import {
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  isServiceAccount,
  KCP_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  prefixedUser,
} from "@virtual-workspaces/kcp/users";
import type { BoundResource } from "./authorizer-state.ts";
import { type ClusterRequest, LIFECYCLE_GROUP_PREFIXES } from "./cluster-request.ts";
import { effectiveUsers, isInScope } from "./effective-users.ts";
import {
  allowingGrant,
  denied,
  granted,
  judged,
  next,
  noOpinion,
  reasonOf,
  type Step,
  textOf,
  type Verdict,
} from "./verdict.ts";

/** Restricts a workspace to members of the groups that its administrators require. */
const requiredGroups: Step = { key: "01-requiredgroups", decide: decideRequiredGroups };

function decideRequiredGroups(request: ClusterRequest): Verdict {
  if (request.deep) return next("deep SAR request");
  if (request.cluster === "") return noOpinion("empty cluster name");
  if (request.in(LOGICAL_CLUSTER_ADMIN_GROUP)) return next("logical cluster admin access");
  if (isServiceAccount(request.question.user)) return next("service account access to logical cluster");
  const found = request.state.logicalCluster(request.cluster);
  if (found === undefined) return noOpinion("logical cluster not found");
  if (request.in(EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP)) return next("external logical cluster admin access");
  const { requiredGroups: value } = found;
  if (value === undefined) return next("logical cluster does not require groups");
  const clauses = [...value.split(";"), KCP_ADMIN_GROUP, BOOTSTRAPPER_GROUP];
  const holds = clauses.some((clause) => clause.split(",").every((group) => request.in(group)));
  return holds
    ? next(() => `user is member of required groups: ${value}`)
    : denied(() => `user is not a member of required groups: ${value}`);
}

/** Restricts a workspace to users with access. Security: otherwise, all bootstrap roles would apply there. */
const content: Step = { key: "02-content", decide: decideContent };

const ENTERED: ReadonlySet<string> = new Set(["Initializing", "Ready", "Inactive", "Terminating", "Deleting"]);
const LIFECYCLE: ReadonlySet<string> = new Set(["Initializing", "Terminating", "Deleting"]);

/** Paths about the process. The roles of `root` decide, also for users without access to that workspace. */
export const SHARD_LEVEL: ReadonlySet<string> = new Set(["/metrics", "/statusz", "/flagz"]);

function decideContent(request: ClusterRequest): Verdict {
  const { question, cluster, state } = request;
  const { user } = question;
  if (!question.isResource && SHARD_LEVEL.has(question.path)) return next("shard-level path");
  if (cluster === "" || cluster.startsWith("system:")) return noOpinion("empty or system workspace");
  if (request.deep) return next("deep SAR request");
  if (request.in(LOGICAL_CLUSTER_ADMIN_GROUP)) return next("logical cluster admin access");
  const found = state.logicalCluster(cluster);
  if (found === undefined) return denied("LogicalCluster not found");
  const { phase } = found;
  if (!ENTERED.has(phase)) return noOpinion(() => `not permitted due to phase ${JSON.stringify(phase)}`);
  if (LIFECYCLE.has(phase) && isOfLifecycle(user)) return granted("lifecycle VW pre-authorized access");
  if (isServiceAccount(user) && isInScope(user, cluster)) return next("local service account access");
  return mayEnter(request) ? next("user logical cluster access") : noOpinion("no verb=access permission on /");
}

/** Checks the request's own groups: a group of a warrant is not proof that a view authorized the request. */
function isOfLifecycle({ groups }: User): boolean {
  return groups.some((group) => LIFECYCLE_GROUP_PREFIXES.some((prefix) => group.startsWith(prefix)));
}

const ACCESS = {
  isResource: false,
  verb: "access",
  path: "/",
  group: "",
  resource: "",
  subresource: "",
  name: "",
} as const;

/** Only in this step, bindings of bootstrap roles also get the rules of the workspace's role of that name. */
function mayEnter(request: ClusterRequest): boolean {
  const { users, state, cluster } = request;
  const all = [...request.policies(cluster), state.bootstrap];
  return all.some((policy) => {
    const also = all.filter((other) => other !== policy);
    return allowingGrant(policy.grants(users, "", also), ACCESS) !== undefined;
  });
}

/** Reserves the status of APIBindings and APIExports for the server. As in kcp, users cannot read the subresource either. */
const systemCrds: Step = { key: "03-systemcrd", decide: decideSystemCrds };

const STATUS = new Map([
  ["apibindings", "apibinding status updates not permitted"],
  ["apiexports", "apiexport status updates not permitted"],
]);

function decideSystemCrds({ question: { isResource, group, resource, subresource } }: ClusterRequest): Verdict {
  const reason = isResource && group === "apis.kcp.io" && subresource === "status" ? STATUS.get(resource) : undefined;
  return reason === undefined ? next("no system CRD violation") : denied(reason);
}

/** Limits users of a bound resource to the exporter's maximal permission policy, whatever their own workspace allows. */
const maximalPermissionPolicy: Step = { key: "04-maxpermissionpolicy", decide: decideMaximalPermission };

function decideMaximalPermission(request: ClusterRequest): Verdict {
  const { question, state, cluster } = request;
  if (request.deep) return next("deep SAR request");
  const bound = question.isResource ? state.binding(cluster, question.group, question.resource) : undefined;
  if (bound === undefined) return next("no relevant binding found");
  const { reference, export: exported } = bound;
  if (exported === undefined) return next(() => `APIExport ${quoted(reference)} not found`);
  if (!exported.policy) return next(() => `no local maximum permission policy in API Export ${exportName(exported)}`);
  return judgeByExporter(request, exported);
}

/** RoleBindings of the exporter's workspace count, those of `system:admin` do not. */
function judgeByExporter(request: ClusterRequest, exported: NonNullable<BoundResource["export"]>): Verdict {
  const { question, state, cluster } = request;
  const users = effectiveUsers(prefixedUser(question.user), cluster);
  const own = request.policies(exported.cluster);
  const sources = [...own, state.bootstrap].map((policy, at, all) =>
    policy.grants(users, at < own.length ? question.namespace : "", all.toSpliced(at, 1)),
  );
  const { grant, reason } = judged(sources, question, users);
  const told = () => `API export ${exportName(exported)} policy: ${reason()}`;
  return grant === undefined ? noOpinion(told) : next(told);
}

function quoted({ path, name }: BoundResource["reference"]): string {
  return `${JSON.stringify(path)}:${JSON.stringify(name)}`;
}

function exportName({ cluster, name }: { readonly cluster: string; readonly name: string }): string {
  return `${JSON.stringify(cluster)}|${JSON.stringify(name)}`;
}

/** Permissions that the bindings of `system:admin` grant in every workspace. */
const bootstrapPolicy: Step = {
  key: "05-bootstrap",
  decide: (request) => judge(request, request.state.bootstrap, { source: "bootstrap policy", also: [] }),
};

/** Permissions that the workspace's own bindings grant, of its own roles and of bootstrap roles. */
const localPolicy: Step = {
  key: "05-local",
  decide: (request) => ofCluster(request, request.state.policy(request.cluster), "local"),
};

/** Permissions that bindings replicated from another shard grant. */
const globalPolicy: Step = {
  key: "05-global",
  decide: (request) => ofCluster(request, request.state.replicated?.(request.cluster), "global"),
};

function ofCluster(request: ClusterRequest, policy: RbacPolicy | undefined, kind: "local" | "global"): Verdict {
  if (request.cluster === "") return noOpinion("empty cluster name");
  const source = `${kind} cluster ${JSON.stringify(request.cluster)} policy`;
  return judge(request, policy, { source, also: [request.state.bootstrap] });
}

interface Judged {
  readonly source: string;
  /** Policies whose roles the bindings may refer to as well. */
  readonly also: readonly RbacPolicy[];
}

function judge({ users, question }: ClusterRequest, policy: RbacPolicy | undefined, { source, also }: Judged): Verdict {
  const grants = policy?.grants(users, question.isResource ? question.namespace : "", also) ?? [];
  const judgement = judged([grants], question, users);
  const reason = reasonOf(source, judgement);
  return judgement.grant === undefined ? noOpinion(reason) : granted(reason);
}

/** Guards in kcp's order, outermost first. Each continues, decides, or has no opinion, which ends the chain. */
const GUARDS: readonly Step[] = [requiredGroups, content, systemCrds, maximalPermissionPolicy];
/** RBAC policies; the first that allows decides. */
const POLICIES: readonly Step[] = [bootstrapPolicy, localPolicy, globalPolicy];

/** Decision of the chain, and the results of its steps. */
export class ChainOutcome {
  readonly decision: "Allowed" | "Denied" | "NoOpinion";
  readonly #said: readonly DecidedStep[];

  constructor(decision: ChainOutcome["decision"], said: readonly DecidedStep[]) {
    this.decision = decision;
    this.#said = said;
  }

  /** Returns kcp's audit annotations. @param domain `request.auth.kcp.io`; for SubjectAccessReviews `sar.auth.kcp.io` */
  annotations(domain: string): DecisionAnnotations {
    return Object.fromEntries(
      this.#said.flatMap(({ key, verdict: { decision, reason } }) => [
        [`${domain}/${key}-decision`, decision === "next" ? this.decision : decision],
        [`${domain}/${key}-reason`, decision === "next" ? `delegating due to ${textOf(reason)}` : textOf(reason)],
      ]),
    );
  }
}

interface DecidedStep {
  readonly key: string;
  readonly verdict: Verdict;
}

/** Reports whether the guards let a user into a logical cluster. @throws what the state throws */
export function passesGuards(request: ClusterRequest): boolean {
  return [requiredGroups, content].every(({ decide }) => {
    const { decision } = decide(request);
    return decision === "next" || decision === "Allowed";
  });
}

/** Runs the steps. @throws what the state throws */
export function askChain(request: ClusterRequest): ChainOutcome {
  const said: DecidedStep[] = [];
  for (const { key, decide } of GUARDS) {
    const verdict = decide(request);
    said.push({ key, verdict });
    if (verdict.decision !== "next") return new ChainOutcome(verdict.decision, said);
  }
  for (const { key, decide } of POLICIES) {
    const verdict = decide(request);
    said.push({ key, verdict });
    if (verdict.decision === "Allowed") return new ChainOutcome("Allowed", said);
  }
  return new ChainOutcome("NoOpinion", said);
}
