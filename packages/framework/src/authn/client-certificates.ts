import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { authenticatedUser, type User } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";

/** Whose certificates count. */
export interface ClientCertificateOptions {
  /** PEM of one or more authorities. Only chains that end in one of these count, whatever else the server trusts. */
  readonly ca: string | Buffer;
}

/** Extended key usage of TLS clients. */
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Certificates between the client's and the authority's. */
const MAX_INTERMEDIATES = 8;

/**
 * TLS client certificates (Kubernetes' x509): the common name is the user, the organizations are the groups. The chain
 * is verified against `ca` itself, since Node accepts a certificate of any authority in the TLS context.
 *
 * @throws Error when `ca` holds no certificate
 */
export function clientCertificates(options: ClientCertificateOptions): Authenticator {
  const authorities = pemCertificates(options.ca);
  if (authorities.length === 0) throw new Error("client certificates: ca holds no PEM certificate");
  // One verdict per connection: a handshake cannot change its certificate under us (TLS 1.3 re-authentication is off).
  const verdicts = new WeakMap<object, User | null>();
  return {
    name: "client certificates",
    wantsClientCertificate: true,
    authenticate: (request: IncomingMessage) => {
      const { socket } = request;
      let verdict = verdicts.get(socket);
      if (verdict === undefined) {
        verdict = "getPeerX509Certificate" in socket ? userOf(socket as TLSSocket, authorities) : null;
        verdicts.set(socket, verdict);
      }
      return verdict ?? undefined;
    },
  };
}

function userOf(socket: TLSSocket, authorities: readonly X509Certificate[]): User | null {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined || !isValidNow(leaf) || !mayAuthenticateClients(leaf)) return null;
  if (!isTrusted(leaf, authorities)) return null;
  const { subject } = socket.getPeerCertificate();
  const name = one(subject.CN);
  return name === "" ? null : authenticatedUser({ name, groups: many(subject.O) });
}

function isTrusted(leaf: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let certificate: X509Certificate | undefined = leaf;
  for (let depth = 0; certificate !== undefined && depth <= MAX_INTERMEDIATES; depth++) {
    const child: X509Certificate = certificate;
    if (authorities.some((authority) => isIssuer(authority, child))) return true;
    const issuer: X509Certificate | undefined = child.issuerCertificate;
    if (issuer === undefined || issuer.fingerprint256 === child.fingerprint256 || !isIssuer(issuer, child))
      return false;
    certificate = issuer;
  }
  return false;
}

function isIssuer(authority: X509Certificate, child: X509Certificate): boolean {
  return authority.ca && isValidNow(authority) && child.checkIssued(authority) && child.verify(authority.publicKey);
}

function isValidNow(certificate: X509Certificate): boolean {
  const now = Date.now();
  return Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo);
}

function mayAuthenticateClients(certificate: X509Certificate): boolean {
  // `keyUsage` is Node's name for the extended key usages, by OID.
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(CLIENT_AUTH);
}

function pemCertificates(pem: string | Buffer): X509Certificate[] {
  const blocks = pem.toString().match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Node gives a subject attribute as a string, or as a list where it stands more than once. */
function many(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function one(value: string | string[] | undefined): string {
  return many(value)[0] ?? "";
}
