import { createPrivateKey, X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { CertifiedSubject, KeyPair, Purpose, ServerPurpose } from "./certificates.ts";

/** Remaining validity below which a certificate is renewed, ms. */
const RENEW_BEFORE = 30 * 24 * 60 * 60 * 1000;

/** Whether a stored certificate still matches what would be made now. */
export function isGood(
  pair: KeyPair,
  expected: {
    readonly subject: CertifiedSubject;
    readonly now: Date;
    /** Authority, PEM; for a self-signed pair, its own certificate. */
    readonly authority: string;
    /** Purpose; a server's certificate must be valid for all its names. */
    readonly purpose?: Purpose;
  },
): boolean {
  try {
    const certificate = new X509Certificate(pair.cert);
    const authority = new X509Certificate(expected.authority);
    return (
      certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey) &&
      isCurrent(certificate, expected.now) &&
      isDeepStrictEqual({ ...certificate.toLegacyObject().subject }, attributesOf(expected.subject)) &&
      (expected.purpose?.kind !== "server" || isFor(certificate, expected.purpose))
    );
  } catch {
    return false; // truncated or edited
  }
}

function isFor(certificate: X509Certificate, { hosts, addresses }: ServerPurpose): boolean {
  const names = (certificate.subjectAltName ?? "").split(", ");
  return (
    names.length === hosts.length + addresses.length &&
    hosts.every((host) => names.includes(`DNS:${host}`)) &&
    addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

function isCurrent({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) <= now.getTime() && Date.parse(validTo) - now.getTime() > RENEW_BEFORE;
}

/** Returns attributes in Node's form, unescaped: a list only where there are several. */
function attributesOf({ name, groups }: CertifiedSubject): Readonly<Record<string, unknown>> {
  const [group, ...more] = groups;
  return { ...(group !== undefined && { O: more.length === 0 ? group : groups }), CN: name };
}
