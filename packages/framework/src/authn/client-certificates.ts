import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { connectionOf } from "../connection.ts";
import { authenticatedUser, type User } from "../user.ts";
import type { Authenticator, ConnectionFacts } from "./authenticator.ts";

/** Whose certificates count. */
export interface ClientCertificateOptions {
  /** PEM of one or more authorities. Only chains that end in one of these count, whatever else the server trusts. */
  readonly ca: string | Buffer;
}

/** Extended key usage of TLS clients. */
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Certificates between the client's and the authority's. */
const MAX_INTERMEDIATES = 8;

/** What is known of a connection: nobody, or a user until one of the certificates ends. */
interface Verdict {
  readonly user: User | undefined;
  readonly until: number;
}

const NOBODY: Verdict = { user: undefined, until: Number.POSITIVE_INFINITY };

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
export function clientCertificates(options: ClientCertificateOptions): Authenticator {
  const { ca } = options;
  const authorities = pemCertificates(ca);
  if (authorities.length === 0) throw new Error("client certificates: ca holds no PEM certificate");
  // One for each connection: it cannot change its certificate (TLS renegotiation and re-authentication are off).
  const verdicts = new WeakMap<object, Verdict>();
  return {
    name: "client certificates",
    clientCa: ca,
    authenticate: (request: IncomingMessage, { clientCa }: ConnectionFacts) => {
      const socket = connectionOf(request);
      let verdict = verdicts.get(socket);
      if (verdict === undefined) {
        const alone = clientCa.length > 0 && clientCa.every((one) => one === ca);
        verdict = "getPeerX509Certificate" in socket ? verdictOn(socket as TLSSocket, { authorities, alone }) : NOBODY;
        verdicts.set(socket, verdict);
      }
      return Date.now() <= verdict.until ? verdict.user : undefined;
    },
  };
}

interface Trust {
  readonly authorities: readonly X509Certificate[];
  /** Whether the handshake trusted no others, so that its word is enough. */
  readonly alone: boolean;
}

function verdictOn(socket: TLSSocket, { authorities, alone }: Trust): Verdict {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined || !socket.authorized || !mayAuthenticateClients(leaf)) return NOBODY;
  const certificate = socket.getPeerCertificate(true);
  const chain = chainTo(authorities, [leaf, ...issuersOf(certificate)]) ?? (alone ? [leaf] : undefined);
  const { CN: name, O: organizations } = certificate.subject;
  // Node gives an attribute as a list where it stands more than once: a certificate of two names is nobody's.
  if (chain === undefined || typeof name !== "string" || name === "") return NOBODY;
  const user = authenticatedUser({ name, groups: listOf(organizations) });
  return { user, until: Math.min(...chain.map((link) => Date.parse(link.validTo))) };
}

/** What the client sent along, each the issuer of the one before. */
function issuersOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const issuers: X509Certificate[] = [];
  let at = leaf;
  while (at.issuerCertificate !== undefined && at.issuerCertificate !== at && issuers.length < MAX_INTERMEDIATES) {
    at = at.issuerCertificate;
    issuers.push(new X509Certificate(at.raw));
  }
  return issuers;
}

/** The certificates from the leaf to the authority that vouches for it; `undefined` when none of ours does. */
function chainTo(
  authorities: readonly X509Certificate[],
  sent: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  for (const [at, child] of sent.entries()) {
    const authority = authorities.find((candidate) => isIssuer(candidate, child));
    if (authority !== undefined) return [...sent.slice(0, at + 1), authority];
    const issuer = sent[at + 1];
    if (issuer === undefined || !isIssuer(issuer, child)) return undefined;
  }
  return undefined;
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
  return isValidNow(certificate) && (usages === undefined || usages.includes(CLIENT_AUTH));
}

function pemCertificates(pem: string | Buffer): X509Certificate[] {
  const blocks = pem.toString().match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

function listOf(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
