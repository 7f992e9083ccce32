import type { Answer } from "../http/answer.ts";
import type { CallOptions } from "../http/client.ts";
import { excerpt, expectCode, expectJson } from "./expect.ts";
import { at, isObject, type JsonObject, listAt, textAt } from "./json.ts";
import { fail, skip } from "./outcome.ts";
import type { Caller } from "./users.ts";

/** Kubernetes' questions about oneself. They are created, and nothing is kept. */
export type ReviewKind = "SelfSubjectReview" | "SelfSubjectAccessReview" | "SelfSubjectRulesReview";

/** Asks a review and gives the answer as it is. */
export function askReview(
  ask: Caller,
  kind: ReviewKind,
  { spec, headers = {}, ...options }: CallOptions & { readonly spec?: object } = {},
): Promise<Answer> {
  const group = kind === "SelfSubjectReview" ? "authentication.k8s.io" : "authorization.k8s.io";
  const body = JSON.stringify({ apiVersion: `${group}/v1`, kind, ...(spec === undefined ? {} : { spec }) });
  return ask(`/apis/${group}/v1/${kind.toLowerCase()}s`, {
    ...options,
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
    repeatable: true,
  });
}

/** The review that an answer is. @throws CheckSkipped where the server has none, or not for this user */
export function readReview(answer: Answer): JsonObject {
  if ([404, 405].includes(answer.status)) skip(`the server has no reviews: ${answer.request.url} is ${answer.status}`);
  if (answer.status === 403) skip(`the user of this run may not ask ${answer.request.url}`);
  if (answer.status === 429) skip("the server has too much to do");
  expectCode(answer, [200, 201]);
  return expectJson(answer);
}

/** Who somebody is. */
export interface ToldIdentity {
  readonly username: string;
  readonly uid: string;
  /** Sorted. */
  readonly groups: readonly unknown[];
  readonly extra: JsonObject;
}

/** Who a SelfSubjectReview says that asked. */
export function readIdentity(answer: Answer): ToldIdentity {
  const review = readReview(answer);
  const username = textAt(review, "status", "userInfo", "username");
  if (username === "") fail(answer.request, "the caller's name at status.userInfo.username", excerpt(answer));
  const extra = at(review, "status", "userInfo", "extra");
  return {
    username,
    uid: textAt(review, "status", "userInfo", "uid"),
    groups: listAt(review, "status", "userInfo", "groups").toSorted(),
    extra: isObject(extra) ? extra : {},
  };
}
