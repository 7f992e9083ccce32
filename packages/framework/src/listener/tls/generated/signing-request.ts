import { webcrypto } from "node:crypto";
import type { CertificateRequest, CertifiedSubject, KeyPair } from "./certificates.ts";
import { certify, loadX509, newKeys, nameOf, P_256, signingBy } from "./certify.ts";

/** A request for a certificate (PKCS #10) and the key that it is for, which stays with whoever asks; PEM. */
export interface NewSigningRequest {
  readonly request: string;
  readonly key: string;
}

/** Makes a new key, P-256, and asks for a certificate of it. Whoever signs it may name somebody else. */
export async function newSigningRequest(subject: CertifiedSubject): Promise<NewSigningRequest> {
  const x509 = await loadX509();
  const keys = await newKeys("P-256");
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ name: new x509.Name(nameOf(subject)), keys, signingAlgorithm: P_256 });
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { request: `${request.toString("pem")}\n`, key: `${x509.PemConverter.encode(der, "PRIVATE KEY")}\n` };
}

/**
 * Certifies the key of a request. What the request says of its subject is not looked at: the caller says who it is for.
 *
 * @returns PEM; `undefined`: it is no request, or was not signed by the key that it is for, which is P-256
 * @throws Error when the authority's certificate or key cannot be read
 */
export async function signRequest(
  pem: string,
  terms: Omit<CertificateRequest, "key">,
  authority: KeyPair,
): Promise<string | undefined> {
  const publicKey = await requestedKey(pem);
  if (publicKey === undefined) return undefined;
  return certify(terms, { publicKey, signing: await signingBy(authority), issuer: authority.cert });
}

async function requestedKey(pem: string): Promise<webcrypto.CryptoKey | undefined> {
  const x509 = await loadX509();
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    if (!(await request.verify())) return undefined;
    return (await request.publicKey.export(P_256, ["verify"])) as webcrypto.CryptoKey;
  } catch {
    return undefined;
  }
}
