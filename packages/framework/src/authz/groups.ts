import type { Authorizer } from "./authorization.ts";
import { authorizerBy } from "./everything.ts";

/**
 * Lets members of any of these groups do everything: `groups("system:masters")` is Kubernetes' authorizer of privileged
 * groups, in a union before `rbac()`, which knows no such group.
 *
 * @throws Error without a group, or on an empty name
 */
export function groups(...names: readonly string[]): Authorizer<unknown> {
  if (names.length === 0) throw new Error("groups: name at least one");
  if (names.some((name) => typeof name !== "string" || name === ""))
    throw new Error("groups: a name must not be empty");
  const wanted = new Set(names);
  return authorizerBy((user) => user.groups.some((group) => wanted.has(group)), "you are in no group that may do this");
}
