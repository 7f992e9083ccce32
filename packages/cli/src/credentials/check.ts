import { createPrivateKey, X509Certificate } from "node:crypto";
import type { KeyPair, Subject } from "./issue.ts";

/** A certificate with less than this left is made anew, ms. */
const RENEW_BEFORE = 30 * 24 * 60 * 60 * 1000;

/** Whether a kept certificate is still what would be made now. */
export function isGood(
  pair: KeyPair,
  expected: {
    readonly subject: Subject;
    readonly now: Date;
    /** PEM. The pair's own where it signs itself. */
    readonly authority: string;
    /** What a server's certificate must be good for. */
    readonly host?: string;
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
      certificate.subject === distinguishedName(expected.subject) &&
      (expected.host === undefined || certificate.checkHost(expected.host) !== undefined)
    );
  } catch {
    return false; // cut short or edited
  }
}

function isCurrent({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) <= now.getTime() && Date.parse(validTo) - now.getTime() > RENEW_BEFORE;
}

/** As Node prints it. */
function distinguishedName({ name, groups }: Subject): string {
  return [...groups.map((group) => `O=${group}`), `CN=${name}`].join("\n");
}
