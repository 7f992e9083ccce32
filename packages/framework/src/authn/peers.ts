import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { connectionOf } from "../connection.ts";
import type { ConnectionFacts } from "./authenticator.ts";

/** Extended key usage of TLS clients. */
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Certificates between the client's and the authority's. */
const MAX_INTERMEDIATES = 8;

/** Whom a client certificate names. */
export interface Subject {
  /** The common name, never empty. */
  readonly name: string;
  readonly organizations: readonly string[];
}

/** Which authorities vouch. */
interface Trust {
  /** PEM of one or more authorities. */
  readonly ca: string | Buffer;
  /** The authenticator's, for complaints. */
  readonly name: string;
}

/** What is known of a connection: nobody, or somebody until one of the certificates ends. */
interface Verdict<T> {
  readonly peer: T | undefined;
  readonly until: number;
}

const NOBODY: Verdict<never> = { peer: undefined, until: Number.POSITIVE_INFINITY };

/**
 * The clients that certain authorities vouch for. Two must agree: the handshake, which checks usages, path lengths and
 * signatures against every authority that the server trusts, and a chain of our own to these.
 */
export class Peers<T> {
  readonly #ca: string | Buffer;
  readonly #authorities: readonly X509Certificate[];
  readonly #known: (subject: Subject) => T | undefined;
  // One for each connection: it cannot change its certificate (TLS renegotiation and re-authentication are off).
  readonly #verdicts = new WeakMap<object, Verdict<T>>();

  /**
   * @param known what a subject is to whoever asks, `undefined` for nobody
   * @throws Error when `ca` holds no certificate
   */
  constructor({ ca, name }: Trust, known: (subject: Subject) => T | undefined) {
    this.#ca = ca;
    this.#authorities = pemCertificates(ca);
    this.#known = known;
    if (this.#authorities.length === 0) throw new Error(`${name}: ca holds no PEM certificate`);
  }

  /** Who is at the other end, by a certificate that is good now. */
  of(request: IncomingMessage, { clientCa }: ConnectionFacts): T | undefined {
    const socket = connectionOf(request);
    let verdict = this.#verdicts.get(socket);
    if (verdict === undefined) {
      const alone = clientCa.length > 0 && clientCa.every((one) => one === this.#ca);
      verdict = "getPeerX509Certificate" in socket ? this.#verdictOn(socket as TLSSocket, alone) : NOBODY;
      this.#verdicts.set(socket, verdict);
    }
    return Date.now() <= verdict.until ? verdict.peer : undefined;
  }

  /** @param alone whether the handshake trusted no other authorities, so that its word is enough */
  #verdictOn(socket: TLSSocket, alone: boolean): Verdict<T> {
    const leaf = socket.getPeerX509Certificate();
    if (leaf === undefined || !socket.authorized || !mayAuthenticateClients(leaf)) return NOBODY;
    const certificate = socket.getPeerCertificate(true);
    const chain = chainTo(this.#authorities, [leaf, ...issuersOf(certificate)]) ?? (alone ? [leaf] : undefined);
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

function pemCertificates(pem: string | Buffer): X509Certificate[] {
  const blocks = pem.toString().match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

function listOf(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
