import { excerpt, expectCode, expectJson, fail, skip } from "../assertions/expect.ts";
import { at, isObject, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import { type CallOptions, HttpClient, type HttpClientOptions } from "../http/client.ts";
import { anonymous, type Credentials, identifies } from "../http/credentials.ts";
import type { WatchStream } from "../http/watch-stream.ts";

export interface UsersOptions extends Omit<HttpClientOptions, "maxSockets"> {
  readonly others: readonly Credentials[];
}

/** Sends a request as one user. */
export type Caller = (path: string, options: CallOptions) => Promise<Answer>;

/** User whose credentials the run has. */
export interface KnownUser {
  /** Uses connections of this user only. */
  readonly alone: Caller;
  /** Opens a watch on connections of this user only. */
  readonly watch: (path: string, options: CallOptions) => Promise<WatchStream | Answer>;
  /** Uses connections that all users share, unless a client certificate identifies the user. */
  readonly among: Caller;
}

/** Number of shared connections. Small, so that several users use each of them. */
export const SHARED = 8;

/** All users whose credentials the run has, its own user first. */
export class Users implements Disposable {
  readonly all: readonly KnownUser[];
  readonly others: readonly KnownUser[];
  /** Token of the run, for requests in which the server must ignore it. */
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
    const known = (own: Credentials): KnownUser => {
      const client = open({ ...server, ...own });
      const alone: Caller = (path, options) => client.call(path, options);
      const watch: KnownUser["watch"] = (path, options) => client.watch(path, options);
      const { token } = own;
      if (token === undefined) return { alone, watch, among: alone };
      return { alone, watch, among: (path, options) => shared.call(path, { ...options, token }) };
    };
    this.others = others.filter(identifies).map(known);
    this.all = [...[credentials].filter(identifies).map(known), ...this.others];
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client[Symbol.dispose]();
  }
}

/** Kubernetes' reviews of the caller itself. A review is created, but not stored. */
export type ReviewKind = "SelfSubjectReview" | "SelfSubjectAccessReview" | "SelfSubjectRulesReview";

/** Creates a review and returns the raw answer. */
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

/** Returns the review of an answer. @throws CheckSkipped when the server does not serve it, or not to this user */
export function readReview(answer: Answer): JsonObject {
  if ([404, 405].includes(answer.status))
    skip(`the server does not serve reviews: ${answer.request.url} is ${answer.status}`);
  if (answer.status === 403) skip(`the user of this run may not create ${answer.request.url}`);
  if (answer.status === 429) skip("the server is overloaded");
  expectCode(answer, [200, 201]);
  return expectJson(answer);
}

/** Identity of a user. */
export interface ReviewedIdentity {
  readonly username: string;
  readonly uid: string;
  /** Groups, sorted. */
  readonly groups: readonly unknown[];
  readonly extra: JsonObject;
}

/** Returns the identity of the caller in a SelfSubjectReview. */
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
