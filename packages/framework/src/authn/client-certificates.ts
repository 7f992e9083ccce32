import { authenticatedUser } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";
import { Peers } from "./peers.ts";

/** Whose certificates count. */
export interface ClientCertificateOptions {
  /** PEM of one or more authorities. Only chains that end in one of these count, whatever else the server trusts. */
  readonly ca: string | Buffer;
}

/**
 * TLS client certificates (Kubernetes' x509): the common name is the user, the organizations are the groups. Two must
 * vouch for a certificate: the handshake, which checks usages, path lengths and signatures against every authority
 * that the server trusts, and a chain of our own to `ca`. In a server of somebody else's, behind the middleware, the TLS
 * options must ask for certificates (`requestCert`), have `ca` among the authorities, and not resume sessions, which
 * forget the chain. Node 24.21 and 26.8 do not tell the chain (nodejs/node#65579): there, a certificate by way of
 * authorities in between is nobody's unless `ca` is all that the server trusts.
 *
 * @throws Error when `ca` holds no certificate
 */
export function clientCertificates({ ca }: ClientCertificateOptions): Authenticator {
  const name = "client certificates";
  const users = new Peers({ ca, name }, ({ name, organizations }) =>
    authenticatedUser({ name, groups: organizations }),
  );
  return {
    name,
    clientCa: ca,
    authenticate: (request, connection) => users.of(request, connection),
  };
}
