import { type Grant, type Named, type RuleQuestion, ruleAllows, subjectOf } from "@virtual-workspaces/framework/authz";
import type { ClusterRequest } from "./cluster-request.ts";

/** For auditors, as kcp words it; made when it is read, since most never are. */
export type Reason = string | (() => string);

/** What one step says: it decides, has no opinion, or leaves it to the next. */
export interface Verdict {
  readonly decision: "Allowed" | "Denied" | "NoOpinion" | "next";
  readonly reason: Reason;
}

/** One link of the chain. @throws what the state throws */
export interface Step {
  /** As audit annotations name it. */
  readonly key: string;
  readonly decide: (asked: ClusterRequest) => Verdict;
}

/** Yes. */
export function granted(reason: Reason): Verdict {
  return { decision: "Allowed", reason };
}

/** No, whoever else might say yes. */
export function denied(reason: Reason): Verdict {
  return { decision: "Denied", reason };
}

/** Not by this. */
export function noOpinion(reason: Reason): Verdict {
  return { decision: "NoOpinion", reason };
}

/** Nothing against it: the steps behind it decide. */
export function next(why: Reason): Verdict {
  return { decision: "next", reason: why };
}

export function textOf(reason: Reason): string {
  return typeof reason === "string" ? reason : reason();
}

/** What RBAC makes of a question. */
interface Judgement {
  /** By which it is allowed. */
  readonly grant: Grant | undefined;
  /** As Kubernetes' RBAC authorizer words it. */
  readonly reason: () => string;
}

/** The first of grants by which something is allowed. @param missing where those are noted whose role is not there */
export function allowingGrant(
  grants: Iterable<Grant>,
  question: RuleQuestion,
  missing: string[] = [],
): Grant | undefined {
  for (const grant of grants) {
    if (typeof grant.rules === "string") missing.push(grant.rules);
    else if (grant.rules.some((rule) => ruleAllows(rule, question))) return grant;
  }
  return undefined;
}

/** The same of several sources, one after the other, with the reason. @param users for whom the grants are */
export function judged(
  sources: readonly Iterable<Grant>[],
  question: RuleQuestion,
  users: readonly Named[],
): Judgement {
  const missing: string[] = [];
  for (const grants of sources) {
    const grant = allowingGrant(grants, question, missing);
    if (grant !== undefined) return { grant, reason: () => allowedBy(grant, users) };
  }
  return { grant: undefined, reason: () => errorsOf(missing) };
}

function errorsOf(missing: readonly string[]): string {
  const distinct = [...new Set(missing)];
  if (distinct.length === 0) return "";
  return `RBAC: ${distinct.length === 1 ? distinct[0] : `[${distinct.join(", ")}]`}`;
}

function allowedBy({ binding }: Grant, users: readonly Named[]): string {
  const { kind, metadata, roleRef } = binding;
  const { name, namespace = "" } = metadata;
  const own = kind === "RoleBinding" ? `${name}/${namespace}` : name;
  const subject = users.map((who) => subjectOf(binding, who)).find((one) => one !== undefined);
  const whom = subject === undefined ? "" : ` to ${subjectText(subject, namespace)}`;
  return `RBAC: allowed by ${kind} ${JSON.stringify(own)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)}${whom}`;
}

function subjectText(subject: NonNullable<ReturnType<typeof subjectOf>>, own: string): string {
  const { kind, name, namespace = own } = subject;
  return `${kind} ${JSON.stringify(kind === "ServiceAccount" ? `${name}/${namespace}` : name)}`;
}

/** A reason with what it is about in front. */
export function reasonOf(source: string, { reason }: Judgement): Reason {
  return () => `${source}: ${reason()}`;
}
