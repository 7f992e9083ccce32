import type { RequestInfo } from "../../request/request-info.ts";
import { AUTHENTICATED, type User } from "../../request/user.ts";
import type { ServedResource } from "../../resource/served.ts";
import { allow, type Decision, deny } from "../authorization.ts";
import { SelfSubjectAccessReview, SelfSubjectReview, SelfSubjectRulesReview } from "./kinds.ts";

/** Kubernetes' `system:basic-user`: whoever has logged in may ask who they are and what they may do. */
export function mayReview(user: User): Decision {
  return user.in(AUTHENTICATED) ? allow() : deny("");
}

type Named = Pick<RequestInfo, "group" | "version" | "resource">;

const NAMES: ReadonlySet<string> = new Set(
  [SelfSubjectReview, SelfSubjectAccessReview, SelfSubjectRulesReview].map((one) => nameOf(namedBy(one))),
);

/** Whether a request is about one of the three reviews, whoever serves it. */
export function isReview(info: RequestInfo): boolean {
  return info.isResource && info.identity === "" && info.group.endsWith("k8s.io") && NAMES.has(nameOf(info));
}

/** What of a list a request is about. */
export function findIn(list: readonly ServedResource[], info: Named): ServedResource | undefined {
  const name = nameOf(info);
  return list.find(({ definition }) => nameOf(namedBy(definition)) === name);
}

function namedBy({ group, version, plural }: Omit<Named, "resource"> & { readonly plural: string }): Named {
  return { group, version, resource: plural };
}

function nameOf({ group, version, resource }: Named): string {
  return `${group}/${version}/${resource}`;
}
