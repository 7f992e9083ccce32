import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { connectionOf } from "../listener/connections.ts";
import { authenticatedUser } from "../request/user.ts";
import type { Authenticator, ConnectionFacts } from "./authenticator.ts";
import { Authorities, type CaSource, handshakeTrust } from "./authorities.ts";

/** Authorities whose certificates are accepted. A chain must end in one of them, whatever else the server trusts. */
export type ClientCertificateOptions = CaSource & {
  /**
   * Headers with which only a proxy may name a user, such as `X-Remote-User`. A request with one of them and a certificate of
   * these authorities gets 400. List `requestHeader` first: it accepts the certificates of proxies.
   *
   * Security: without them the request is served as the user of the certificate, as in Kubernetes. A proxy that this server does
   * not know as one, such as a shard in `system:masters`, then acts for every user with its own rights.
   * @default none
   */
  readonly proxyHeaders?: readonly string[];
};

/**
 * Authenticates TLS client certificates (Kubernetes' x509): the common name is the user, the organizations are the groups. A
 * certificate passes two checks: the handshake, which verifies usages, path lengths and signatures against every authority
 * that the server trusts, and a separate chain to these authorities. In a server of your own, behind the middleware, the TLS
 * options must request certificates (`requestCert`), trust these authorities, and not resume sessions, which lose the chain.
 * Node 24.21 and 26.8 do not expose the chain (nodejs/node#65579): there, a certificate with intermediate authorities is
 * accepted only if `ca`, not a file, is all that the server trusts.
 *
 * @throws Error when `ca` or `caFile` holds no certificate, or the file cannot be read
 */
export function clientCertificates({ proxyHeaders = [], ...options }: ClientCertificateOptions): Authenticator {
  const name = "client certificates";
  const headers = proxyHeaders.map((header) => header.toLowerCase());
  const users = new Peers({ source: options, name }, ({ name, organizations }) =>
    authenticatedUser({ name, groups: organizations }),
  );
  return {
    name,
    ...handshakeTrust(options),
    authenticate: (request, connection) => {
      const user = users.of(request, connection);
      if (user === undefined) return undefined;
      const header = headers.find((one) => request.headers[one] !== undefined);
      if (header !== undefined) throw ApiError.badRequest(`${header} ${UNACCEPTED}`);
      return user;
    },
    reason: (request, connection) => users.reason(request, connection),
  };
}

const UNACCEPTED =
  "names a user, and the client certificate is not that of an accepted proxy: give its authority to requestHeader (--requestheader-client-ca-file) and its common name to the allowed names, or remove the header";

/** OID of the extended key usage of TLS clients. */
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Reason without a certificate. */
const UNSHOWN = "the client showed no certificate";
/** Limit of intermediate certificates between the client's and the authority's. */
const MAX_INTERMEDIATES = 8;

/** Subject of a client certificate. */
interface Subject {
  /** Common name, never empty. */
  readonly name: string;
  readonly organizations: readonly string[];
}

/** Trusted authorities, and the authenticator that trusts them. */
interface Trust {
  readonly source: CaSource;
  /** Name of the authenticator, for error messages. */
  readonly name: string;
}

/** Result of a check, valid until the first certificate of the chain expires; with a reason when the check failed. */
interface Finding<T> {
  readonly peer: T | undefined;
  readonly reason?: string;
  readonly until: number;
}

/** Result for one connection, valid as long as the authorities stay the same. */
interface Verdict<T> extends Finding<T> {
  readonly by: readonly X509Certificate[];
}

const EXPIRED = "the certificate has expired";

function rejection(reason: string): Finding<never> {
  return { peer: undefined, reason, until: Number.POSITIVE_INFINITY };
}

/**
 * Clients with certificates of certain authorities. Each passes two checks: the handshake, which verifies usages, path
 * lengths and signatures against every authority that the server trusts, and a separate chain to these authorities.
 */
export class Peers<T> {
  readonly #ca: string | Buffer | undefined;
  readonly #authorities: Authorities;
  readonly #known: (subject: Subject) => T | undefined;
  // One entry for each connection, whose certificate cannot change (TLS renegotiation and re-authentication are off).
  readonly #verdicts = new WeakMap<object, Verdict<T>>();

  /**
   * @param known maps a subject to the result of {@link of}; `undefined` rejects it
   * @throws Error when the source holds no certificate
   */
  constructor({ source, name }: Trust, known: (subject: Subject) => T | undefined) {
    this.#ca = "ca" in source ? source.ca : undefined;
    this.#authorities = new Authorities(source, name);
    this.#known = known;
  }

  /** Returns the client at the other end of the connection, if its certificate is valid now. */
  of(request: IncomingMessage, connection: ConnectionFacts): T | undefined {
    const { peer, until } = this.#verdictOf(request, connection);
    return Date.now() <= until ? peer : undefined;
  }

  /** Returns why the client's certificate is not accepted; `undefined` when it is. */
  reason(request: IncomingMessage, connection: ConnectionFacts): string | undefined {
    const { reason, until } = this.#verdictOf(request, connection);
    return Date.now() <= until ? reason : EXPIRED;
  }

  #verdictOf(request: IncomingMessage, { clientCa }: ConnectionFacts): Verdict<T> {
    const socket = connectionOf(request);
    const by = this.#authorities.now;
    let verdict = this.#verdicts.get(socket);
    if (verdict?.by !== by) {
      const alone = clientCa.length > 0 && clientCa.every((one) => one === this.#ca);
      const finding =
        "getPeerX509Certificate" in socket ? this.#verdictOn(socket as TLSSocket, by, alone) : rejection(UNSHOWN);
      verdict = { ...finding, by };
      this.#verdicts.set(socket, verdict);
    }
    return verdict;
  }

  /** @param alone whether the handshake trusted no other authorities, so that its check suffices */
  #verdictOn(socket: TLSSocket, authorities: readonly X509Certificate[], alone: boolean): Finding<T> {
    const leaf = socket.getPeerX509Certificate();
    if (leaf === undefined) return rejection(UNSHOWN);
    if (!socket.authorized)
      return rejection(`the certificate is not valid for the accepted authorities (${socket.authorizationError})`);
    if (!isValidNow(leaf)) return rejection(EXPIRED);
    if (!mayAuthenticateClients(leaf)) return rejection("the certificate lacks the extended key usage clientAuth");
    const certificate = socket.getPeerCertificate(true);
    const chain = chainTo(authorities, [leaf, ...issuersOf(certificate)]) ?? (alone ? [leaf] : undefined);
    const { CN: name, O: organizations } = certificate.subject;
    // Node gives an attribute that occurs more than once as an array: a certificate with two names is rejected.
    if (chain === undefined) return rejection("another authority signed the certificate");
    if (typeof name !== "string" || name === "") return rejection("the certificate has no single common name");
    const peer = this.#known({ name, organizations: listOf(organizations) });
    if (peer === undefined) return rejection("the common name of the certificate is not an allowed one");
    return { peer, until: Math.min(...chain.map((link) => Date.parse(link.validTo))) };
  }
}

/** Returns the intermediate certificates that the client sent, each the issuer of the previous one. */
function issuersOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const issuers: X509Certificate[] = [];
  let at = leaf;
  while (at.issuerCertificate !== undefined && at.issuerCertificate !== at && issuers.length < MAX_INTERMEDIATES) {
    at = at.issuerCertificate;
    issuers.push(new X509Certificate(at.raw));
  }
  return issuers;
}

/** Returns the certificates from the leaf to a trusted authority; `undefined` when there is no such chain. */
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
  // `keyUsage` is Node's name for the extended key usages, as OIDs.
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(CLIENT_AUTH);
}

function listOf(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
