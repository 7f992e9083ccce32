import { nameProblems } from "@virtual-workspaces/apimachinery";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import {
  AUTHENTICATION,
  type ImpersonatedParts,
  type Impersonation,
  impersonatedUser,
  question,
  serviceAccountOf,
} from "./headers.ts";

/** Mode of Kubernetes' constrained impersonation (KEP-5284) that applies to a request. */
export interface ImpersonationMode {
  /** Verb for the parts of the identity, such as `impersonate:user-info`; recorded in audit events. */
  readonly verb: string;
  /** Mode, such as `user-info`. */
  readonly kind: string;
  /** Reason why no permission is enough, and the part that it is about. */
  readonly forbidden: { readonly question: RequestInfo; readonly reason: string } | undefined;
  /** Alternatives for the parts of the identity: for each, one of the lists of authorization requests must be allowed. */
  readonly parts: readonly (readonly (readonly RequestInfo[])[])[];
  /** User of the request if all are allowed. */
  readonly user: User;
}

/** Number of groups, or of extra values, from which one permission for all of them is tried first. */
const MANY = 4;
const NODE = "system:node:";
const NODE_NAME = "authentication.kubernetes.io/node-name";
const MASTERS = "system:masters";

/** Returns the modes that apply, in Kubernetes' order. Security: which ones do depends on the identity, never on permissions. */
export function impersonationModes({ user, parts }: Impersonation, requestor: User): ImpersonationMode[] {
  const { name, uid, groups, extra } = parts;
  const isPlain = uid === undefined && groups.length === 0 && Object.keys(extra).length === 0;
  const [node, account] = [nodeOf(name), serviceAccountOf(name)];
  const mode = (kind: string, as: User, named: RequestInfo): ImpersonationMode => ({
    ...{ verb: verbOf(kind), kind, forbidden: undefined, parts: [[[named]]], user: as },
  });
  if (node !== undefined) {
    if (!isPlain) return [];
    const asNode = impersonatedUser({ ...parts, groups: ["system:nodes"] });
    const nodes = (kind: string, named: string) => mode(kind, asNode, part(kind, "nodes", { name: named }));
    // As the permission is for whatever node the account runs on, Kubernetes asks about all.
    return [...(runsOn(requestor, node) ? [nodes("associated-node", "*")] : []), nodes("arbitrary-node", node)];
  }
  if (account === undefined) return [userInfo(parts, user)];
  const kind = "serviceaccount";
  const { namespace, name: named } = account;
  return isPlain ? [mode(kind, user, part(kind, "serviceaccounts", { namespace, name: named }))] : [];
}

function userInfo(parts: ImpersonatedParts, user: User): ImpersonationMode {
  const kind = "user-info";
  const { name, uid, groups, extra } = parts;
  const values = Object.entries(extra).flatMap(([subresource, all]) =>
    [...new Set(all)].map((value) => part(kind, "userextras", { subresource, name: value })),
  );
  const each = [
    [[part(kind, "users", { name })]],
    ...(uid === undefined ? [] : [[[part(kind, "uids", { name: uid })]]]),
    orAll(
      groups.map((group) => part(kind, "groups", { name: group })),
      part(kind, "groups", { name: "*" }),
    ),
    orAll(values, part(kind, "userextras", { subresource: "*", name: "*" })),
  ];
  const forbidden = groups.includes(MASTERS)
    ? {
        question: part(kind, "groups", { name: MASTERS }),
        reason: "impersonating the system:masters group is not allowed",
      }
    : unknownExtra(extra);
  return { verb: verbOf(kind), kind, forbidden, parts: each, user };
}

function unknownExtra(extra: ImpersonatedParts["extra"]): ImpersonationMode["forbidden"] {
  for (const [key, values] of Object.entries(extra)) {
    const reason = extraProblem(key, values);
    if (reason !== undefined) return { question: part("user-info", "userextras", {}), reason };
  }
  return undefined;
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  const [domain = "", ...path] = key.split("/");
  const refused = "impersonating an invalid key in extra is not allowed";
  if (domain === "" || path.join("/") === "")
    return `${refused}: extra[key]: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  const [problem] = nameProblems(domain);
  if (problem !== undefined) return `${refused}: extra[key]: Invalid value: ${JSON.stringify(domain)}: ${problem}`;
  if (key !== key.toLowerCase())
    return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
  return values.includes("") ? "impersonating the empty string value in extra is not allowed" : undefined;
}

/** A permission for all values replaces those for each, once there are many. */
function orAll(each: readonly RequestInfo[], all: RequestInfo): readonly (readonly RequestInfo[])[] {
  return each.length < MANY ? [each] : [[all], each];
}

const verbOf = (kind: string): string => `impersonate:${kind}`;

/** Returns the authorization request of a mode for the request itself. */
export function onOf({ kind }: Pick<ImpersonationMode, "kind">, request: RequestInfo): RequestInfo {
  return { ...request, verb: `impersonate-on:${kind}:${request.verb}` };
}

function part(
  kind: string,
  resource: string,
  of: Partial<Pick<RequestInfo, "name" | "namespace" | "subresource">>,
): RequestInfo {
  return question(AUTHENTICATION, resource, { ...of, verb: verbOf(kind) });
}

function nodeOf(user: string): string | undefined {
  const name = user.startsWith(NODE) ? user.slice(NODE.length) : "";
  return name !== "" && nameProblems(name).length === 0 ? name : undefined;
}

/** Whether a service account's token was issued to a pod on that node. */
function runsOn({ name, extra }: User, node: string): boolean {
  const nodes = Object.hasOwn(extra, NODE_NAME) ? extra[NODE_NAME] : undefined;
  return serviceAccountOf(name) !== undefined && nodes?.length === 1 && nodes[0] === node;
}
