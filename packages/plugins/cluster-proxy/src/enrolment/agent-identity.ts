import { createPrivateKey, randomUUID, X509Certificate } from "node:crypto";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type KeyPair, signRequest } from "@virtual-workspaces/framework/tls";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import type { HubAuthority } from "./hub-keys.ts";

/** What tokens of this kind call themselves: no other token is taken for one. */
const TYPE = "clusterproxy-agent+jwt";
const AUDIENCE = "clusterproxy";
const ALGORITHM = "ES256";
/** How long a proof is good, s: as long as a request may be on its way. */
const LIFETIME = 60;
/** Whose clocks agree no better, s. */
const TOLERANCE = 30;

/**
 * Proof that whoever sends it has the key of an agent's certificate: a bearer token, good for a minute and once, signed by that key, with the
 * certificate in it (`x5c`, RFC 7515). It passes balancers that end TLS, as no client certificate does.
 *
 * @param now the hub's clock, as far as it is known
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

/** Who has sent a proof, and what of their certificate is over. */
export interface ProvenAgent {
  readonly identity: AgentIdentity;
  readonly expires: Date;
  /** Whether the certificate's time is over, or has not come. */
  readonly isExpired: boolean;
}

/** Whether a text calls itself such a proof. */
export const isProof = (typ: unknown): boolean => typ === TYPE;

/** Looks at proofs, and takes each once. Memory: the names of those that are still good. */
export class Proofs {
  /** When they end, s since 1970. */
  readonly #seen = new Map<string, number>();

  /** Who has sent it. `undefined`: nobody that a hub has certified, or it is too late, or not for the first time. */
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
      // In the order in which they came, which is about that in which they end.
      if (end + 2 * TOLERANCE > seconds) break;
      this.#seen.delete(known);
    }
    if (this.#seen.has(id)) return false;
    // What says that it lasts longer is remembered no longer than it is believed.
    this.#seen.set(id, Math.min(expires, seconds + LIFETIME + TOLERANCE));
    return true;
  }
}

/** Whom the certificate of an agent names. */
export interface AgentIdentity extends ProxyKey {
  /** Of the ClusterProxy. */
  readonly uid: string;
  /** By which enrolment the agent has got it. */
  readonly enrolment: string;
}

const PREFIX = "urn:virtual-workspaces:clusterproxy:";
const WORD = "[A-Za-z0-9.-]+";
const URI = new RegExp(`^URI:${PREFIX}(${WORD}):(${WORD}):(${WORD}):(${WORD})$`);

/** Certifies an agent's key. @returns PEM @throws ApiError 400 on what is no request for it */
export async function certifyAgent(
  request: string,
  { cluster, name, uid, enrolment }: AgentIdentity,
  { pair, now, lifetime }: Pick<HubAuthority, "pair"> & { readonly now: Date; readonly lifetime: number },
): Promise<string> {
  const uris = [`${PREFIX}${cluster}:${name}:${uid}:${enrolment}`];
  const subject = { name: "clusterproxy-agent", groups: [] };
  const certificate = await signRequest(request, { subject, purpose: { kind: "client", uris }, now, lifetime }, pair);
  if (certificate !== undefined) return certificate;
  throw ApiError.badRequest(
    "spec.request: it is no PKCS #10 request in PEM that is signed by its own key, on the curve P-256",
  );
}

/** Whom a certificate names that a hub has given out, whenever that was. `undefined`: no hub has. */
function agentIdentityOf(
  certificate: X509Certificate,
  { certificate: authority }: HubAuthority,
): AgentIdentity | undefined {
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) return undefined;
  const [, cluster, name, uid, enrolment] = URI.exec(certificate.subjectAltName ?? "") ?? [];
  return cluster && name && uid && enrolment ? { cluster, name, uid, enrolment } : undefined;
}

/** PEM, or DER. `undefined`: it is none. */
function certificateOf(text: string | Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}
