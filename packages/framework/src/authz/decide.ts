import type { RequestInfo } from "../request/request-info.ts";
import type { AuthorizeRequest, Authorizer, Decision } from "./authorization.ts";

/**
 * Asks an authorizer: the one place that does. Synchronous where it is.
 *
 * @throws Error when it answers neither yes nor no, and what it throws
 */
export function decide<Params>(
  authorizer: Authorizer<Params>,
  question: AuthorizeRequest<Params>,
): Decision | Promise<Decision> {
  const decision = authorizer(question);
  return decision instanceof Promise ? decision.then(checked) : checked(decision);
}

function checked(decision: Decision): Decision {
  const { allowed } = decision;
  if (allowed === true || allowed === false) return decision;
  throw new Error("authorize must return allow() or deny(reason)");
}

/** By which subresources of core resources a connection leads into a container, a pod or a node. */
const WAYS_IN: ReadonlySet<string> = new Set([
  "nodes/proxy",
  "pods/attach",
  "pods/exec",
  "pods/portforward",
  "pods/proxy",
  "services/proxy",
]);

/**
 * What has to be allowed besides for a connection into a pod that is opened by GET, as WebSockets are: `create`, as for one
 * that is opened by POST. Else whoever may only read would get a terminal. So does Kubernetes for exec, attach and
 * port-forward (KEP-4006, `AuthorizePodWebsocketUpgradeCreatePermission`, from 1.35 on); tunnels through proxies it lets
 * pass with `get` alone, though one through a node leads into all its containers.
 *
 * @returns `undefined` for whatever else there is, other groups' resources too, whose owners have their own rules
 */
export function connecting(info: RequestInfo): RequestInfo | undefined {
  if (!info.upgrade || info.verb !== "get" || info.group !== "") return undefined;
  return WAYS_IN.has(`${info.resource}/${info.subresource}`) ? { ...info, verb: "create" } : undefined;
}
