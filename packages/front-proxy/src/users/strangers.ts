import { ANONYMOUS, type Authenticator, clientCertificate, UNAUTHENTICATED, User } from "@virtual-workspaces/framework";

const STRANGER = new User({ name: ANONYMOUS, groups: [UNAUTHENTICATED] });

/**
 * Lets in who is not known here, and shows no client certificate: the server behind finds out by the token, or says that somebody has to log in.
 * No certificate gets that far, so that who shows one that nobody knows here is 401, as in kcp. Comes last.
 *
 * @param headers by which servers behind are told who asks: clients do not get past with these
 */
export function strangers(headers: readonly string[]): Authenticator {
  return {
    name: "strangers",
    identityHeaders: headers.map((name) => name.toLowerCase()),
    authenticate: (request) => (clientCertificate(request) === undefined ? STRANGER : undefined),
  };
}

/** Whether the caller is one of these: nothing is said of them. */
export function isStranger(user: User): boolean {
  return user === STRANGER;
}
