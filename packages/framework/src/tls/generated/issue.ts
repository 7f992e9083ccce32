import { createPrivateKey, webcrypto } from "node:crypto";
import type * as X509 from "@peculiar/x509";

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Who a certificate names. */
export interface CertifiedSubject {
  /** The common name: the user's. */
  readonly name: string;
  /** The organizations: the user's groups. `system:masters` is for who may do everything. */
  readonly groups: readonly string[];
}

/** What a certificate is for: to sign others, to say who a client is, or to be called by names. */
export type Purpose = { readonly kind: "authority" } | { readonly kind: "client" } | ServerPurpose;

/** To be called by these names. */
export interface ServerPurpose {
  readonly kind: "server";
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
}

const DAY = 24 * 60 * 60 * 1000;
/** Clocks of virtual machines lag. */
const LEEWAY = 60 * 60 * 1000;
const P_256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const RSA_2048 = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
} as const;

/** What is to be certified, from when on. */
export interface CertificateRequest {
  readonly subject: CertifiedSubject;
  readonly purpose: Purpose;
  /** The clock: certificates are good from an hour before. */
  readonly now: Date;
  /** The new key. RSA takes tenths of a second; some old tools read no other. @default "P-256" */
  readonly key?: "P-256" | "RSA-2048";
}

/**
 * A certificate with a new key, with what strict verifiers ask for: key identifiers, usages, constraints. Good for a year,
 * an authority's for ten. Nothing is kept: that is for the caller, whose secret the key is.
 *
 * @param authority who signs, by a key of either kind; without one the certificate signs itself
 * @throws Error when the authority's certificate or key cannot be read
 */
export async function issue(request: CertificateRequest, authority?: KeyPair): Promise<KeyPair> {
  const { subject, purpose, now, key = "P-256" } = request;
  const x509 = await loadX509();
  const keys = await newKeys(key);
  const issuer = authority === undefined ? undefined : new x509.X509Certificate(authority.cert);
  const days = purpose.kind === "authority" ? 3650 : 365;
  const name = new x509.Name(nameOf(subject));
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    // To the byte: an authority of before may be encoded otherwise, and verifiers compare bytes.
    issuer: issuer?.subjectName ?? name,
    notBefore: new Date(now.getTime() - LEEWAY),
    notAfter: new Date(now.getTime() + days * DAY),
    publicKey: keys.publicKey,
    ...(authority === undefined
      ? { signingKey: keys.privateKey, signingAlgorithm: key === "P-256" ? P_256 : RSA_2048 }
      : await signing(authority)),
    extensions: [
      ...extensionsFor(purpose, x509),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer?.publicKey ?? keys.publicKey),
    ],
  });
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { cert: `${certificate.toString("pem")}\n`, key: `${x509.PemConverter.encode(der, "PRIVATE KEY")}\n` };
}

/** Loaded only when there is something to issue: it would be the largest part of every start. */
async function loadX509(): Promise<typeof X509> {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

/** Said to be text: of a bare one the library reads `#` and what follows as DER. */
function nameOf({ name, groups }: CertifiedSubject): X509.JsonNameParams {
  return [...groups.map((group) => ({ O: [{ utf8String: group }] })), { CN: [{ utf8String: name }] }];
}

/** One call for each: their types differ. */
function newKeys(key: "P-256" | "RSA-2048"): Promise<webcrypto.CryptoKeyPair> {
  return key === "P-256"
    ? webcrypto.subtle.generateKey(P_256, true, ["sign", "verify"])
    : webcrypto.subtle.generateKey(RSA_2048, true, ["sign", "verify"]);
}

async function signing({ key }: KeyPair): Promise<Signing> {
  const privateKey = createPrivateKey(key);
  const algorithm = privateKey.asymmetricKeyType === "rsa" ? RSA_2048 : P_256;
  const der = privateKey.export({ type: "pkcs8", format: "der" });
  const signingKey = await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  return { signingKey, signingAlgorithm: algorithm };
}

interface Signing {
  readonly signingKey: webcrypto.CryptoKey;
  readonly signingAlgorithm: typeof P_256 | typeof RSA_2048;
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
  if (purpose.kind === "client") return [...leaf, new x509.ExtendedKeyUsageExtension([clientAuth])];
  const names: X509.JsonGeneralNames = [
    ...purpose.hosts.map((value) => ({ type: "dns" as const, value })),
    ...purpose.addresses.map((value) => ({ type: "ip" as const, value })),
  ];
  return [...leaf, new x509.ExtendedKeyUsageExtension([serverAuth]), new x509.SubjectAlternativeNameExtension(names)];
}
