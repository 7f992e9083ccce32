import type { IncomingMessage } from "node:http";
import { clientCertificate } from "../listener/connections.ts";
import { ANONYMOUS, UNAUTHENTICATED, User } from "../request/user.ts";
import type { Authenticator } from "./authenticator.ts";
import { bearerToken } from "./headers.ts";

/** For which requests nobody need log in. */
export interface AnonymousOptions {
  /** Only for these paths, to the letter and without the query (Kubernetes' `anonymous.conditions`). @default all */
  readonly paths?: readonly string[];
}

/**
 * Lets requests without credentials in, as Kubernetes' `system:anonymous` in the group `system:unauthenticated`; what it
 * may do is for `authorize` to say, and a rule that asks for nothing lets the world in. Give it last. Credentials that
 * nobody knew stay 401: a caller with a bad token is not told that things are not there, but that the token is bad.
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
