import { webcrypto } from "node:crypto";
import type { CertificateRequest, KeyPair } from "./certificates.ts";
import { certify, loadX509, newKeys, P_256, RSA_2048, signingBy } from "./certify.ts";

/**
 * A certificate with a new key, with what strict verifiers ask for: key identifiers, usages, constraints. Good for a year,
 * an authority's for ten. Nothing is kept: that is for the caller, whose secret the key is.
 *
 * @param authority who signs, by a key of either kind; without one the certificate signs itself
 * @throws Error when the authority's certificate or key cannot be read
 */
export async function issue(request: CertificateRequest, authority?: KeyPair): Promise<KeyPair> {
  const { key = "P-256" } = request;
  const { PemConverter } = await loadX509();
  const { publicKey, privateKey } = await newKeys(key);
  const own = { signingKey: privateKey, signingAlgorithm: key === "P-256" ? P_256 : RSA_2048 };
  const signing = authority === undefined ? own : await signingBy(authority);
  const cert = await certify(request, { publicKey, signing, issuer: authority?.cert });
  const der = await webcrypto.subtle.exportKey("pkcs8", privateKey);
  return { cert, key: `${PemConverter.encode(der, "PRIVATE KEY")}\n` };
}
