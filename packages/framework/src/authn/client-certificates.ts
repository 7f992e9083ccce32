import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { connectionOf } from "../listener/connections.ts";
import { authenticatedUser } from "../request/user.ts";
import type { Authenticator, ConnectionFacts } from "./authenticator.ts";
import { Authorities, type CaSource, handshakeTrust } from "./authorities.ts";

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

/** Extended key usage of TLS clients. */
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Certificates between the client's and the authority's. */
const MAX_INTERMEDIATES = 8;

/** Whom a client certificate names. */
interface Subject {
  /** The common name, never empty. */
  readonly name: string;
  readonly organizations: readonly string[];
}

/** Which authorities vouch. */
interface Trust {
  readonly source: CaSource;
  /** The authenticator's, for complaints. */
  readonly name: string;
}

/** Nobody, or somebody until one of the certificates ends. */
interface Finding<T> {
  readonly peer: T | undefined;
  readonly until: number;
}

/** What is known of a connection as long as these authorities vouch. */
interface Verdict<T> extends Finding<T> {
  readonly by: readonly X509Certificate[];
}

const NOBODY: Finding<never> = { peer: undefined, until: Number.POSITIVE_INFINITY };

/**
 * The clients that certain authorities vouch for. Two must agree: the handshake, which checks usages, path lengths and
 * signatures against every authority that the server trusts, and a chain of our own to these.
 */
export class Peers<T> {
  readonly #ca: string | Buffer | undefined;
  readonly #authorities: Authorities;
  readonly #known: (subject: Subject) => T | undefined;
  // One for each connection: it cannot change its certificate (TLS renegotiation and re-authentication are off).
  readonly #verdicts = new WeakMap<object, Verdict<T>>();

  /**
   * @param known what a subject is to whoever asks, `undefined` for nobody
   * @throws Error when the source holds no certificate
   */
  constructor({ source, name }: Trust, known: (subject: Subject) => T | undefined) {
    this.#ca = "ca" in source ? source.ca : undefined;
    this.#authorities = new Authorities(source, name);
    this.#known = known;
  }

  /** Who is at the other end, by a certificate that is good now. */
  of(request: IncomingMessage, { clientCa }: ConnectionFacts): T | undefined {
    const socket = connectionOf(request);
    const by = this.#authorities.now;
    let verdict = this.#verdicts.get(socket);
    if (verdict?.by !== by) {
      const alone = clientCa.length > 0 && clientCa.every((one) => one === this.#ca);
      const finding = "getPeerX509Certificate" in socket ? this.#verdictOn(socket as TLSSocket, by, alone) : NOBODY;
      verdict = { ...finding, by };
      this.#verdicts.set(socket, verdict);
    }
    return Date.now() <= verdict.until ? verdict.peer : undefined;
  }

  /** @param alone whether the handshake trusted no other authorities, so that its word is enough */
  #verdictOn(socket: TLSSocket, authorities: readonly X509Certificate[], alone: boolean): Finding<T> {
    const leaf = socket.getPeerX509Certificate();
    if (leaf === undefined || !socket.authorized || !mayAuthenticateClients(leaf)) return NOBODY;
    const certificate = socket.getPeerCertificate(true);
    const chain = chainTo(authorities, [leaf, ...issuersOf(certificate)]) ?? (alone ? [leaf] : undefined);
    const { CN: name, O: organizations } = certificate.subject;
    // Node gives an attribute as a list where it stands more than once: a certificate of two names is nobody's.
    if (chain === undefined || typeof name !== "string" || name === "") return NOBODY;
    const peer = this.#known({ name, organizations: listOf(organizations) });
    return { peer, until: Math.min(...chain.map((link) => Date.parse(link.validTo))) };
  }
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

function listOf(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
