import { ApiError } from "./api-error.ts";
import type { GroupResource } from "./meta.ts";
import { quote } from "./quote.ts";

/** A request that was refused: {@link forbiddenFor}. */
export interface ForbiddenRequest {
  /** Name of the user; "" when there is none. */
  readonly user: string;
  /** The verb as RBAC names it: `get`, `list`, `watch`, `create`, ... */
  readonly verb: string;
  /** What was asked for; absent for a request that is about no resource. */
  readonly resource?: GroupResource | undefined;
  readonly subresource?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** The URL path, for a request that is about no resource. */
  readonly path?: string | undefined;
  /** Added after a colon. It is shown to the client: it must not leak why a policy said no. */
  readonly reason?: string | undefined;
}

/**
 * The 403 that Kubernetes' authorization filter answers, word for word:
 * `quotes.example.dev "x" is forbidden: User "u" cannot get resource "quotes" in API group "example.dev" at the
 * cluster scope`. Markup characters in it are written as entities, as Kubernetes does.
 */
export function forbiddenFor(request: ForbiddenRequest): ApiError {
  const { reason = "", resource = { group: "", resource: "" }, name } = request;
  const text = withoutMarkup(description(request));
  return ApiError.forbidden({ resource, name, message: reason === "" ? text : `${text}: ${reason}` });
}

function description(request: ForbiddenRequest): string {
  const { user, verb, resource, subresource = "", namespace = "", path = "" } = request;
  const who = `User ${quote(user)} cannot ${verb}`;
  if (resource === undefined) return `${who} path ${quote(path)}`;
  const what = subresource === "" ? resource.resource : `${resource.resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`;
  return `${who} resource ${quote(what)} in API group ${quote(resource.group)} ${where}`;
}

function withoutMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
