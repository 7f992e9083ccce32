import { excerpt, expectCode, expectJson, fail, skip } from "../assertions/expect.ts";
import { at, isObject, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import { type CallOptions, HttpClient, type HttpClientOptions } from "../http/client.ts";
import { anonymous, type Credentials, identifies } from "../http/credentials.ts";

export interface UsersOptions extends Omit<HttpClientOptions, "maxSockets"> {
  readonly others: readonly Credentials[];
}

/** How somebody asks. */
export type Caller = (path: string, options: CallOptions) => Promise<Answer>;

/** Somebody whom the run has credentials of. */
export interface KnownUser {
  /** On connections that nobody else uses. */
  readonly alone: Caller;
  /** On connections that all use, unless a client certificate says whose they are. */
  readonly among: Caller;
}

/** Connections that all users share: few, so that each is used by several. */
export const SHARED = 8;

/** Everybody whom a run has credentials of, its own user first. */
export class Users implements Disposable {
  readonly all: readonly KnownUser[];
  /** The token of the run, to be sent in ways in which it must not count. */
  readonly token: string | undefined;
  readonly #clients: HttpClient[] = [];

  constructor({ credentials, others, ...connecting }: UsersOptions) {
    const open = (own: Credentials): HttpClient => {
      const client = new HttpClient({ ...connecting, credentials: own, maxSockets: SHARED });
      this.#clients.push(client);
      return client;
    };
    const server = anonymous(credentials);
    const shared = open(server);
    this.token = credentials.token;
    this.all = [credentials, ...others].filter(identifies).map((own): KnownUser => {
      const client = open({ ...server, ...own });
      const alone: Caller = (path, options) => client.call(path, options);
      const { token } = own;
      if (token === undefined) return { alone, among: alone };
      return { alone, among: (path, options) => shared.call(path, { ...options, token }) };
    });
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client[Symbol.dispose]();
  }
}

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
export interface ReviewedIdentity {
  readonly username: string;
  readonly uid: string;
  /** Sorted. */
  readonly groups: readonly unknown[];
  readonly extra: JsonObject;
}

/** Who a SelfSubjectReview says that asked. */
export function readIdentity(answer: Answer): ReviewedIdentity {
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
