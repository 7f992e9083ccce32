// A certificate authority for tests: made once for a process, never written down, so that a client that trusts it trusts
// every server of the same run.
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** Certificate and private key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Everything a TLS server and its users need. */
export interface Authority {
  /** The authority's own certificate, PEM. */
  readonly ca: string;
  /** For 127.0.0.1, ::1 and localhost. */
  readonly server: KeyPair;
  /** The certificate of a user: the common name, and the organizations as groups. */
  client(name: string, groups?: readonly string[]): Promise<KeyPair>;
}

const DAY = 24 * 60 * 60 * 1000;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const SERVER_NAMES: x509.JsonGeneralNames = [
  { type: "ip", value: "127.0.0.1" },
  { type: "ip", value: "::1" },
  { type: "dns", value: "localhost" },
];

/** A new authority. */
export async function createAuthority(): Promise<Authority> {
  const keys = await newKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=virtual-workspaces-test",
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const issuer: Issuer = { certificate: ca, key: keys.privateKey };
  return {
    ca: ca.toString("pem"),
    server: await issue(issuer, "CN=127.0.0.1", [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(SERVER_NAMES),
    ]),
    client: (name, groups = []) =>
      issue(issuer, [{ CN: [name] }, ...groups.map((group) => ({ O: [group] }))], [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]),
  };
}

interface Issuer {
  readonly certificate: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
}

async function issue(issuer: Issuer, subject: x509.JsonName | string, extensions: x509.Extension[]): Promise<KeyPair> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer.certificate.subject,
    publicKey: keys.publicKey,
    signingKey: issuer.key,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true), ...extensions],
  });
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { cert: certificate.toString("pem"), key: x509.PemConverter.encode(der, "PRIVATE KEY") };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

/** From a while ago, for clocks that differ. */
function validity(): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + DAY) };
}
