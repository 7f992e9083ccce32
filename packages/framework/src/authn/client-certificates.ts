import { authenticatedUser } from "../request/user.ts";
import type { Authenticator } from "./authenticator.ts";
import { type CaSource, handshakeTrust } from "./authorities.ts";
import { Peers } from "./peers.ts";

/** Whose certificates count: only chains that end in one of these authorities, whatever else the server trusts. */
export type ClientCertificateOptions = CaSource;

/**
 * TLS client certificates (Kubernetes' x509): the common name is the user, the organizations are the groups. Two must
 * vouch for a certificate: the handshake, which checks usages, path lengths and signatures against every authority
 * that the server trusts, and a chain of our own to these. In a server of somebody else's, behind the middleware, the TLS
 * options must ask for certificates (`requestCert`), have these among the authorities, and not resume sessions, which
 * forget the chain. Node 24.21 and 26.8 do not tell the chain (nodejs/node#65579): there, a certificate by way of
 * authorities in between is nobody's unless `ca`, and no file, is all that the server trusts.
 *
 * @throws Error when `ca` or `caFile` holds no certificate, or the file cannot be read
 */
export function clientCertificates(options: ClientCertificateOptions): Authenticator {
  const name = "client certificates";
  const users = new Peers({ source: options, name }, ({ name, organizations }) =>
    authenticatedUser({ name, groups: organizations }),
  );
  return {
    name,
    ...handshakeTrust(options),
    authenticate: (request, connection) => users.of(request, connection),
  };
}
