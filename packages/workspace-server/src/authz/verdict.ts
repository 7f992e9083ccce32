import { type Grant, type Named, type RuleQuestion, ruleAllows, subjectOf } from "@virtual-workspaces/framework/authz";
import type { ClusterRequest } from "./cluster-request.ts";

/** Reason for audit events, in kcp's words. A function is called only when the reason is read, since most are not. */
export type Reason = string | (() => string);

/** Result of one step: allowed, denied, no opinion, or `next` to continue with the next step. */
export interface Verdict {
  readonly decision: "Allowed" | "Denied" | "NoOpinion" | "next";
  readonly reason: Reason;
}

/** One step of the authorization chain. @throws what the state throws */
export interface Step {
  /** Name in audit annotations. */
  readonly key: string;
  readonly decide: (asked: ClusterRequest) => Verdict;
}

/** Allows the request. */
export function granted(reason: Reason): Verdict {
  return { decision: "Allowed", reason };
}

/** Denies the request, whatever other authorizers decide. */
export function denied(reason: Reason): Verdict {
  return { decision: "Denied", reason };
}

/** Returns no opinion: another authorizer may still allow the request. */
export function noOpinion(reason: Reason): Verdict {
  return { decision: "NoOpinion", reason };
}

/** Continues with the next step. */
export function next(why: Reason): Verdict {
  return { decision: "next", reason: why };
}

export function textOf(reason: Reason): string {
  return typeof reason === "string" ? reason : reason();
}

/** RBAC's decision on a request. */
interface Judgement {
  /** Grant that allows the request. */
  readonly grant: Grant | undefined;
  /** Reason in the words of Kubernetes' RBAC authorizer. */
  readonly reason: () => string;
}

/** Returns the first grant that allows a request. @param missing receives the errors of grants whose role does not exist */
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

/** Checks the grants of several sources in order, and adds the reason. @param users users that the grants are for */
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

/** Returns a reason with its source as prefix. */
export function reasonOf(source: string, { reason }: Judgement): Reason {
  return () => `${source}: ${reason()}`;
}
