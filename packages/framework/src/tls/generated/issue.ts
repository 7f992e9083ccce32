import { webcrypto } from "node:crypto";
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

/** What a certificate is for. */
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
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** What is to be certified, from when on. */
export interface CertificateRequest {
  readonly subject: CertifiedSubject;
  readonly purpose: Purpose;
  readonly now: Date;
}

/**
 * A certificate with a new P-256 key, with what strict verifiers ask for: key identifiers, usages, constraints. Good for
 * a year, an authority's for ten.
 *
 * @param authority who signs; without one the certificate signs itself
 */
export async function issue({ subject, purpose, now }: CertificateRequest, authority?: KeyPair): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
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
    signingKey: authority === undefined ? keys.privateKey : await signingKey(authority),
    signingAlgorithm: ALGORITHM,
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

function signingKey({ key }: KeyPair): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(key.replace(/-----[^-]+-----/g, ""), "base64");
  return webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
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
