import type { IncomingMessage } from "node:http";
import { clientCertificate } from "../listener/connections.ts";
import { ANONYMOUS, UNAUTHENTICATED, User } from "../request/user.ts";
import type { Authenticator } from "./authenticator.ts";
import { bearerToken } from "./headers.ts";

/** Options of {@link anonymous}. */
export interface AnonymousOptions {
  /**
   * Paths on which anonymous requests are accepted, compared exactly and without the query (Kubernetes'
   * `anonymous.conditions`).
   * @default all
   */
  readonly paths?: readonly string[];
}

/**
 * Authenticates requests without credentials as Kubernetes' `system:anonymous` in the group `system:unauthenticated`. List it
 * last. A request whose credentials no authenticator accepts still gets 401, so that the caller learns that its token is bad
 * and not that objects are missing. Security: `authorize` alone limits what this user may do; a rule that ignores the user
 * opens the view to everyone.
 */
export function anonymous({ paths }: AnonymousOptions = {}): Authenticator {
  const user = new User({ name: ANONYMOUS, groups: [UNAUTHENTICATED] });
  const allowed = paths === undefined ? undefined : new Set(paths);
  return {
    name: "anonymous",
    authenticate: (request) => {
      if (allowed !== undefined && !allowed.has(pathOf(request))) return undefined;
      return showsCredentials(request) ? undefined : user;
    },
  };
}

function pathOf({ url = "/" }: IncomingMessage): string {
  const at = url.indexOf("?");
  return at === -1 ? url : url.slice(0, at);
}

function showsCredentials(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers.authorization !== undefined || bearerToken(request) !== undefined) return true;
  return clientCertificate(request) !== undefined;
}
