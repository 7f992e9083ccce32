import type * as X509 from "@peculiar/x509";
import { createPrivateKey, webcrypto } from "node:crypto";
import type { CertificateRequest, CertifiedSubject, KeyPair, Purpose } from "./certificates.ts";

const DAY = 24 * 60 * 60 * 1000;
/** Tolerance for clocks of virtual machines, which lag. */
const LEEWAY = 60 * 60 * 1000;
/** Parameters of keys on this curve. */
const P_256: webcrypto.EcKeyGenParams & webcrypto.EcdsaParams = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
/** Parameters of RSA keys. */
const RSA_2048: webcrypto.RsaHashedKeyGenParams = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};

/** A certificate's contents besides the purpose: its public key. */
interface CertifiedKey {
  readonly publicKey: webcrypto.CryptoKey;
  readonly signing: Signing;
  /** Issuer, PEM. @default the key signs itself */
  readonly issuer: string | undefined;
}

/**
 * Makes a certificate of a key, PEM, with the extensions that strict verifiers require: key identifiers, usages, constraints.
 */
async function certify(
  { subject, purpose, now, lifetime }: Omit<CertificateRequest, "key">,
  { publicKey, signing, issuer: issuedBy }: CertifiedKey,
): Promise<string> {
  const x509 = await loadX509();
  const issuer = issuedBy === undefined ? undefined : new x509.X509Certificate(issuedBy);
  const days = purpose.kind === "authority" ? 3650 : 365;
  const name = new x509.Name(nameOf(subject));
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    // Byte for byte: an older authority may be encoded differently, and verifiers compare bytes.
    issuer: issuer?.subjectName ?? name,
    notBefore: new Date(now.getTime() - LEEWAY),
    notAfter: new Date(now.getTime() + (lifetime ?? days * DAY)),
    publicKey,
    ...signing,
    extensions: [
      ...extensionsFor(purpose, x509),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer?.publicKey ?? publicKey),
    ],
  });
  return `${certificate.toString("pem")}\n`;
}

/** Loads the library on first use: it would be the largest part of every start. */
async function loadX509(): Promise<typeof X509> {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

/** Marked as text: the library parses `#` and what follows in a plain string as DER. */
function nameOf({ name, groups }: CertifiedSubject): X509.JsonNameParams {
  return [...groups.map((group) => ({ O: [{ utf8String: group }] })), { CN: [{ utf8String: name }] }];
}

/** One call per kind: their types differ. */
function newKeys(key: "P-256" | "RSA-2048"): Promise<webcrypto.CryptoKeyPair> {
  return key === "P-256"
    ? webcrypto.subtle.generateKey(P_256, true, ["sign", "verify"])
    : webcrypto.subtle.generateKey(RSA_2048, true, ["sign", "verify"]);
}

/** Returns an authority's signing key. @throws Error when the key cannot be read */
async function signingBy({ key }: Pick<KeyPair, "key">): Promise<Signing> {
  const privateKey = createPrivateKey(key);
  const algorithm = privateKey.asymmetricKeyType === "rsa" ? RSA_2048 : P_256;
  const der = privateKey.export({ type: "pkcs8", format: "der" });
  const signingKey = await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  return { signingKey, signingAlgorithm: algorithm };
}

/** A signing key and its parameters. */
interface Signing {
  readonly signingKey: webcrypto.CryptoKey;
  readonly signingAlgorithm: webcrypto.Algorithm & { readonly hash: webcrypto.HashAlgorithmIdentifier };
}

function extensionsFor(purpose: Purpose, x509: typeof X509): X509.Extension[] {
  if (purpose.kind === "authority") {
    // May sign certificates and revocations, but no further authorities.
    const usages = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
    return [new x509.BasicConstraintsExtension(true, 0, true), new x509.KeyUsagesExtension(usages, true)];
  }
  const leaf = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
  ];
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
  if (purpose.kind === "client") {
    const names = (purpose.uris ?? []).map((value) => ({ type: "url" as const, value }));
    const others = names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)];
    return [...leaf, new x509.ExtendedKeyUsageExtension([clientAuth]), ...others];
  }
  const names: X509.JsonGeneralNames = [
    ...purpose.hosts.map((value) => ({ type: "dns" as const, value })),
    ...purpose.addresses.map((value) => ({ type: "ip" as const, value })),
  ];
  return [...leaf, new x509.ExtendedKeyUsageExtension([serverAuth]), new x509.SubjectAlternativeNameExtension(names)];
}

/**
 * Issues a certificate with a new key, with the extensions that strict verifiers require: key identifiers, usages,
 * constraints. Valid for a year, an authority for ten. Nothing is stored: the caller keeps the key, which is a secret.
 *
 * @param authority signer, with a key of either kind; without one the certificate is self-signed
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

/** A certificate signing request (PKCS #10) and its key, which stays with the requester; PEM. */
export interface NewSigningRequest {
  readonly request: string;
  readonly key: string;
}

/** Makes a new P-256 key and a signing request for it. The signer may choose another subject. */
export async function newSigningRequest(subject: CertifiedSubject): Promise<NewSigningRequest> {
  const x509 = await loadX509();
  const keys = await newKeys("P-256");
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ name: new x509.Name(nameOf(subject)), keys, signingAlgorithm: P_256 });
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { request: `${request.toString("pem")}\n`, key: `${x509.PemConverter.encode(der, "PRIVATE KEY")}\n` };
}

/**
 * Certifies the key of a signing request. It ignores the subject of the request: the caller chooses the subject.
 *
 * @returns PEM; `undefined` for an invalid request, or one not signed by its own P-256 key
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
