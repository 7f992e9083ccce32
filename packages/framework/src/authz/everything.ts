import { type Authorizer, allow, deny, type Rules } from "./authorization.ts";
import type { User } from "../request/user.ts";

/** One that lets some users do everything, and others nothing. */
export function authorizerBy(mayDoAll: (user: User) => boolean, reason: string): Authorizer<unknown> {
  return Object.assign(({ user }: { readonly user: User }) => (mayDoAll(user) ? allow() : deny(reason)), {
    rules: ({ user }: { readonly user: User }) => (mayDoAll(user) ? EVERYTHING : NOTHING),
  });
}

const EVERYTHING: Rules = Object.freeze({
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
});
const NOTHING: Rules = Object.freeze({ resourceRules: [], nonResourceRules: [], incomplete: false });
