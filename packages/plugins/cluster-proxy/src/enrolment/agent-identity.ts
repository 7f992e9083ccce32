import { createPrivateKey, randomUUID, X509Certificate } from "node:crypto";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type KeyPair, signRequest } from "@virtual-workspaces/framework/tls";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import type { HubAuthority } from "./hub-keys.ts";

/** Type of these tokens. Security: tokens of other types are not accepted. */
const TYPE = "clusterproxy-agent+jwt";
const AUDIENCE = "clusterproxy";
const ALGORITHM = "ES256";
/** Lifetime of a proof, s, as long as a request may take to arrive. */
const LIFETIME = 60;
/** Tolerance for clock differences, s. */
const TOLERANCE = 30;

/**
 * Returns a proof of possession of an agent's key: a bearer token that is valid for a minute and once, signed by the key, with the
 * certificate in it (`x5c`, RFC 7515). Unlike a client certificate, it passes load balancers that terminate TLS.
 *
 * @param now the hub's clock, as far as known
 */
export async function newProof({ cert, key }: KeyPair, now: Date): Promise<string> {
  const { SignJWT } = await import("jose");
  const issued = Math.floor(now.getTime() / 1000);
  return new SignJWT({})
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, x5c: [new X509Certificate(cert).raw.toString("base64")] })
    .setAudience(AUDIENCE)
    .setJti(randomUUID())
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIFETIME)
    .sign(createPrivateKey(key));
}

/** Sender of a proof, and whether the certificate is valid. */
export interface ProvenAgent {
  readonly identity: AgentIdentity;
  readonly expires: Date;
  /** Whether the certificate has expired or is not valid yet. */
  readonly isExpired: boolean;
}

/** Reports whether a token type is that of a proof. */
export const isProof = (typ: unknown): boolean => typ === TYPE;

/** Verifies proofs, and accepts each once. Memory: the ids of unexpired proofs. */
export class Proofs {
  /** Expiry by id, s since 1970. */
  readonly #seen = new Map<string, number>();

  /** Returns the sender. `undefined` if the certificate is not a hub's, or the proof has expired or was used before. */
  async of(token: string, authority: HubAuthority, now: Date): Promise<ProvenAgent | undefined> {
    const { decodeProtectedHeader, jwtVerify } = await import("jose");
    try {
      const [der = ""] = decodeProtectedHeader(token).x5c ?? [];
      const certificate = certificateOf(Buffer.from(der, "base64"));
      const identity = certificate && agentIdentityOf(certificate, authority);
      if (certificate === undefined || identity === undefined) return undefined;
      const { payload } = await jwtVerify(token, certificate.publicKey, {
        audience: AUDIENCE,
        typ: TYPE,
        algorithms: [ALGORITHM],
        requiredClaims: ["exp", "iat", "jti"],
        currentDate: now,
        clockTolerance: TOLERANCE,
        maxTokenAge: LIFETIME,
      });
      if (!this.#isNew(payload.jti ?? "", payload.exp ?? 0, now)) return undefined;
      const { validFromDate, validToDate } = certificate;
      return { identity, expires: validToDate, isExpired: now < validFromDate || now > validToDate };
    } catch {
      return undefined;
    }
  }

  #isNew(id: string, expires: number, now: Date): boolean {
    const seconds = now.getTime() / 1000;
    for (const [known, end] of this.#seen) {
      // Entries are in order of arrival, which is about that of expiry.
      if (end + 2 * TOLERANCE > seconds) break;
      this.#seen.delete(known);
    }
    if (this.#seen.has(id)) return false;
    // A later expiry is not accepted, so the entry is not kept longer.
    this.#seen.set(id, Math.min(expires, seconds + LIFETIME + TOLERANCE));
    return true;
  }
}

/** Identity in an agent's certificate. */
export interface AgentIdentity extends ProxyKey {
  /** UID of the ClusterProxy. */
  readonly uid: string;
  /** Enrollment that issued the certificate. */
  readonly enrolment: string;
}

const PREFIX = "urn:virtual-workspaces:clusterproxy:";
const WORD = "[A-Za-z0-9.-]+";
const URI = new RegExp(`^URI:${PREFIX}(${WORD}):(${WORD}):(${WORD}):(${WORD})$`);

/** Issues a certificate for an agent's key. @returns PEM @throws ApiError 400 on an invalid request */
export async function certifyAgent(
  request: string,
  { cluster, name, uid, enrolment }: AgentIdentity,
  { pair, now, lifetime }: Pick<HubAuthority, "pair"> & { readonly now: Date; readonly lifetime: number },
): Promise<string> {
  const uris = [`${PREFIX}${cluster}:${name}:${uid}:${enrolment}`];
  const subject = { name: "clusterproxy-agent", groups: [] };
  const certificate = await signRequest(request, { subject, purpose: { kind: "client", uris }, now, lifetime }, pair);
  if (certificate !== undefined) return certificate;
  throw ApiError.badRequest("spec.request: invalid PKCS #10 request: use PEM with a P-256 key and its own signature");
}

/** Returns the identity in a certificate that a hub has issued at any time; `undefined` for others. */
function agentIdentityOf(
  certificate: X509Certificate,
  { certificate: authority }: HubAuthority,
): AgentIdentity | undefined {
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) return undefined;
  const [, cluster, name, uid, enrolment] = URI.exec(certificate.subjectAltName ?? "") ?? [];
  return cluster && name && uid && enrolment ? { cluster, name, uid, enrolment } : undefined;
}

/** Parses PEM or DER; `undefined` if it is invalid. */
function certificateOf(text: string | Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}
