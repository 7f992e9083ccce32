import { workspacePath } from "../api/base.ts";
import { isStatusError, request } from "../api/client.ts";

/** A hypothetical request for objects. */
export interface Question {
  readonly verb: string;
  /** "" is the core group, `*` all of them. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** "" is all namespaces. */
  readonly namespace: string;
  /** "" is all objects. */
  readonly name: string;
}

export interface Subject {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Decision of the server. */
export interface Answer {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface ResourceRule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  readonly resources?: readonly string[] | null;
  readonly resourceNames?: readonly string[] | null;
}

export interface Rules {
  readonly resourceRules?: readonly ResourceRule[] | null;
  readonly nonResourceRules?:
    | readonly { readonly verbs?: readonly string[] | null; readonly nonResourceURLs?: readonly string[] | null }[]
    | null;
  readonly incomplete?: boolean;
  readonly evaluationError?: string;
}

const AUTHORIZATION = "authorization.k8s.io";

interface Review {
  readonly workspace: string;
  readonly group: string;
  readonly kind: string;
  /** Namespace of the review itself. */
  readonly namespace?: string;
  readonly spec?: unknown;
}

/** Creates a review, which no server stores. Throws a StatusError. */
async function review<T>({ workspace, group, kind, namespace, spec }: Review): Promise<T | undefined> {
  const within = namespace === undefined ? "" : `namespaces/${encodeURIComponent(namespace)}/`;
  const path = `${workspacePath(workspace)}/apis/${group}/v1/${within}${kind.toLowerCase()}s`;
  const metadata = namespace === undefined ? {} : { metadata: { namespace } };
  const body = { apiVersion: `${group}/v1`, kind, ...metadata, ...(spec !== undefined && { spec }) };
  return (await request<{ readonly status?: T }>(path, { method: "POST", body })).status;
}

/** Returns as whom the server knows the user of this tab in a workspace. Throws a StatusError. */
export async function whoAmI(workspace: string): Promise<UserInfo> {
  const kind = "SelfSubjectReview";
  const status = await review<{ userInfo?: UserInfo }>({ workspace, group: "authentication.k8s.io", kind });
  return status?.userInfo ?? {};
}

/** Returns what the user may do in a namespace of a workspace. Throws a StatusError. */
export async function myRules(workspace: string, namespace: string): Promise<Rules> {
  const kind = "SelfSubjectRulesReview";
  return (await review<Rules>({ workspace, group: AUTHORIZATION, kind, spec: { namespace } })) ?? {};
}

/** Returns whether the user may do something. Throws a StatusError. */
export async function mayI(workspace: string, resourceAttributes: Question): Promise<Answer> {
  const kind = "SelfSubjectAccessReview";
  return (await review<Answer>({ workspace, group: AUTHORIZATION, kind, spec: { resourceAttributes } })) ?? NO;
}

/** Returns whether a user may do something, or which right the signed-in user lacks to see that. Throws a StatusError. */
export async function mayThey(
  workspace: string,
  question: Question,
  { user, groups }: Subject,
): Promise<Answer | { readonly missing: string }> {
  const spec = { resourceAttributes: question, user, groups };
  const { namespace } = question;
  try {
    const kind = "SubjectAccessReview";
    return (await review<Answer>({ workspace, group: AUTHORIZATION, kind, spec })) ?? NO;
  } catch (error) {
    if (!isStatusError(error) || error.code !== 403) throw error;
    const missing = `subjectaccessreviews.${AUTHORIZATION}`;
    if (namespace === "") return { missing };
    const local = await review<Answer>({
      workspace,
      group: AUTHORIZATION,
      kind: "LocalSubjectAccessReview",
      namespace,
      spec,
    }).catch((cause: unknown) => {
      if (isStatusError(cause) && cause.code === 403) return undefined;
      throw cause;
    });
    return local ?? { missing: `${missing}, or local${missing} in the namespace ${namespace}` };
  }
}

const NO: Answer = { allowed: false };

/**
 * Returns the rights that impersonating a user needs: all those of one of the lists. The second one is Kubernetes' constrained
 * impersonation, which permits some requests only.
 */
export function impersonationOf({ user, groups }: Subject): readonly (readonly Question[])[] {
  const [, namespace = "", name = ""] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  const isAccount = name !== "";
  const who = isAccount
    ? { resource: "serviceaccounts", namespace, name }
    : { resource: "users", namespace: "", name: user };
  const parts = [who, ...groups.map((group) => ({ resource: "groups", namespace: "", name: group }))];
  const constrained = `impersonate:${isAccount ? "serviceaccount" : "user-info"}`;
  return [
    parts.map((part) => ({ ...part, verb: "impersonate", group: "", subresource: "" })),
    parts.map((part) => ({ ...part, verb: constrained, group: "authentication.k8s.io", subresource: "" })),
  ];
}
