import { ANONYMOUS, type Authenticator, clientCertificate, UNAUTHENTICATED, User } from "@virtual-workspaces/framework";

const STRANGER = new User({ name: ANONYMOUS, groups: [UNAUTHENTICATED] });

/**
 * Lets in who is not known here, and shows no client certificate: the server behind finds out by the token, or says that somebody has to log in.
 * No certificate gets that far, so that who shows one that nobody knows here is 401, as in kcp. Comes last, behind what a view knows.
 */
export const strangers: Authenticator = {
  name: "strangers",
  authenticate: (request) => (clientCertificate(request) === undefined ? STRANGER : undefined),
};

/** Knows nobody: clients do not get past with the headers by which servers behind are told who asks. */
export function guarded(headers: readonly string[]): Authenticator {
  return {
    name: "identity-headers",
    identityHeaders: headers.map((name) => name.toLowerCase()),
    authenticate: () => undefined,
  };
}

/** Whether the caller is one of these: nothing is said of them. */
export function isStranger(user: User): boolean {
  return user === STRANGER;
}
