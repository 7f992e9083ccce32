import { type AuthorizeRequest, type Authorizer, deny } from "./authorization.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { authenticated } from "./authenticated.ts";

/**
 * Lets nobody write: asks `inner` about reads, refuses everything else. Reads are get, list and watch of objects, get of
 * their `/status` and `/scale`, and GET and HEAD of paths that are no objects (discovery). Other subresources are no reads
 * even by GET, since GET is how a terminal or a tunnel is opened, and neither is anything that asks for an upgrade. To
 * allow one, say so: `union(readOnly(), rbac({…}))`. It lists no rules, which could not leave subresources out: for a rules
 * review it is asked about all that is served.
 *
 * @param inner who may read. @default everybody who has logged in
 */
export function readOnly<Params = unknown>(inner: Authorizer<Params> = authenticated()): Authorizer<Params> {
  const authorizer = (request: AuthorizeRequest<Params>) =>
    isRead(request) ? inner(request) : deny("this can only be read");
  const { watchesEvery } = inner;
  return watchesEvery === undefined ? authorizer : Object.assign(authorizer, { watchesEvery });
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const METHODS: ReadonlySet<string> = new Set(["get", "head"]);
const PARTS: ReadonlySet<string> = new Set(["", "status", "scale"]);

function isRead({ isResource, verb, subresource, upgrade }: RequestInfo): boolean {
  if (upgrade) return false;
  if (!isResource) return METHODS.has(verb);
  return READS.has(verb) && PARTS.has(subresource);
}
