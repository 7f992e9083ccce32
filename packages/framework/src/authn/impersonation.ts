import { ApiError, dnsLabelProblems, nameProblems } from "@virtual-workspaces/apimachinery";
import type { RequestInfo } from "../request/request-info.ts";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User } from "../request/user.ts";
import { extraTexts, headerLine, headerText, headerTexts } from "./headers.ts";

/** As whom a caller wants to be taken, and what has to be allowed for that, one question for each part that differs. */
export interface Impersonation {
  readonly user: User;
  readonly questions: readonly RequestInfo[];
}

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA = "impersonate-extra-";
/** The most groups, and the most values of extra, that one request may name: each is a question to the rule. */
const MOST = 2500;
const SERVICE_ACCOUNT = "system:serviceaccount:";

/**
 * What the `Impersonate-*` headers ask for, as Kubernetes reads them. `undefined`: nothing, which is what almost every
 * request asks, so that is found out first.
 *
 * @throws ApiError 400 on headers that contradict each other, are empty, no UTF-8 or too many
 */
export function impersonationOf(rawHeaders: readonly string[]): Impersonation | undefined {
  if (!rawHeaders.some(isImpersonation)) return undefined;
  const name = headerText(rawHeaders, USER);
  const uid = headerText(rawHeaders, UID);
  const groups = [...new Set(headerTexts(rawHeaders, GROUP))];
  const extra = extraTexts(rawHeaders, [EXTRA]);
  if (name === undefined) throw ApiError.badRequest(`to impersonate somebody, name them: ${USER} is missing`);
  if ([name, uid, ...groups].includes("")) throw ApiError.badRequest("a header that begins with impersonate- is empty");
  const extraQuestions = Object.entries(extra).flatMap(([subresource, values]) =>
    [...new Set(values)].map((value) => question(AUTHENTICATION, "userextras", { name: value, subresource })),
  );
  refuseMany(GROUP, groups);
  refuseMany(`${EXTRA}*`, extraQuestions);
  const account = serviceAccountOf(name);
  return {
    user: impersonated({ name, uid, groups: groups.length > 0 ? groups : (account?.groups ?? []), extra }),
    questions: [
      account === undefined
        ? question("", "users", { name })
        : question("", "serviceaccounts", { name: account.name, namespace: account.namespace }),
      ...groups.map((group) => question("", "groups", { name: group })),
      ...extraQuestions,
      ...(uid === undefined ? [] : [question(AUTHENTICATION, "uids", { name: uid })]),
    ],
  };
}

const AUTHENTICATION = "authentication.k8s.io";

/** The `Impersonate-*` headers as flat pairs, for a server that reads them itself. @throws ApiError 400 on values that are no UTF-8 */
export function impersonationLines(rawHeaders: readonly string[]): readonly string[] | undefined {
  if (!rawHeaders.some(isImpersonation)) return undefined;
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isImpersonation(name)) lines.push(name, headerLine(name, rawHeaders[at + 1] as string));
  }
  return lines;
}

function refuseMany(header: string, named: readonly unknown[]): void {
  if (named.length > MOST)
    throw ApiError.badRequest(`the header ${header} names ${named.length} different values: at most ${MOST} are taken`);
}

/** Names stand at even places; a value that begins so costs a closer look and no more. */
function isImpersonation(text: string): boolean {
  return (text[0] === "I" || text[0] === "i") && text.slice(0, 12).toLowerCase() === "impersonate-";
}

interface Parts {
  readonly name: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

function impersonated({ name, uid, groups, extra }: Parts): User {
  const told = groups.includes(UNAUTHENTICATED) || (name !== ANONYMOUS && groups.includes(AUTHENTICATED));
  return new User({
    name,
    ...(uid === undefined ? {} : { uid }),
    groups: told ? groups : [...groups, name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED],
    extra,
  });
}

interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  /** Those that every service account of the namespace has. */
  readonly groups: readonly string[];
}

function serviceAccountOf(user: string): ServiceAccount | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT)) return undefined;
  const [namespace = "", name = "", ...rest] = user.slice(SERVICE_ACCOUNT.length).split(":");
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || nameProblems(name).length > 0) return undefined;
  return { namespace, name, groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`] };
}

function question(
  group: string,
  resource: string,
  of: Partial<Pick<RequestInfo, "name" | "namespace" | "subresource">>,
): RequestInfo {
  const { name = "", namespace = "", subresource = "" } = of;
  const about = { group, version: "v1", resource, identity: "", subresource, namespace, name };
  return { isResource: true, verb: "impersonate", path: "", longRunning: false, upgrade: false, ...about };
}
