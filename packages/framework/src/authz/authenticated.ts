import type { Authorizer } from "./authorization.ts";
import { AUTHENTICATED } from "../request/user.ts";
import { authorizerBy } from "./everything.ts";

/** Lets everybody do everything whose credentials were accepted. */
export function authenticated(): Authorizer<unknown> {
  return authorizerBy((user) => user.in(AUTHENTICATED), "log in first");
}
