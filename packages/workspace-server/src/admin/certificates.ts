import { createPrivateKey } from "node:crypto";
import { join } from "node:path";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { type KeptPair, keptPair, type PairFiles, writeAtomically } from "./files.ts";

/** Remaining lifetime below which a certificate is replaced, in ms. */
const RENEW_BEFORE = 30 * 24 * 60 * 60 * 1000;
/** Common name of the generated CA. Certificates of any other issuer in these files are never replaced. */
const AUTHORITY = "kcp-self-signed-ca";

/** Host names of a server and the directory of its certificate. */
export interface ServingCertificateOptions {
  /** Root directory (`--cert-dir`); it must exist. */
  readonly dir: string;
  /** DNS names of the certificate. */
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  /** Current time. @default the clock */
  readonly now?: Date;
}

/** Serving certificate and the CA certificates that clients trust. */
export interface ServingCertificate extends PairFiles {
  /** All of `apiserver.crt` as PEM: for kubeconfigs and for `kube-root-ca.crt`. */
  readonly ca: string;
}

/**
 * Loads the certificate `apiserver.crt` and its key `apiserver.key`, or creates them. The certificate is signed by its
 * own CA, which follows in the same file; the CA's key is not kept. A generated certificate is replaced in its last 30
 * days, when the host names change, and after a crash between the two files. A certificate of another issuer is used as
 * it is. Only one process at a time may call this.
 *
 * @throws Error on files that are broken or do not match, on names that cannot be certified, and on files that cannot
 * be written
 */
export async function servingCertificate(options: ServingCertificateOptions): Promise<ServingCertificate> {
  const { dir, hosts, addresses, now = new Date() } = options;
  const files = { certFile: join(dir, "apiserver.crt"), keyFile: join(dir, "apiserver.key") };
  const kept = keptPair(files);
  if (kept !== undefined && isToKeep(kept, options, now)) return { ...files, ca: kept.cert };
  if (kept !== undefined && !isOurs(kept))
    throw new Error(
      `key in "${files.keyFile}" does not match the certificate in "${files.certFile}": put the matching key there, or remove both files`,
    );
  const [name = ""] = [...hosts, ...addresses];
  const authority = await issueCertificate({
    subject: { name: AUTHORITY, groups: [] },
    purpose: { kind: "authority" },
    now,
  });
  const purpose = { kind: "server", hosts, addresses } as const;
  const pair = await issueCertificate({ subject: { name, groups: [] }, purpose, now }, authority);
  const ca = pair.cert + authority.cert;
  writeAtomically(files.keyFile, pair.key, 0o600);
  writeAtomically(files.certFile, ca, 0o644);
  return { ...files, ca };
}

function isToKeep(kept: KeptPair, options: ServingCertificateOptions, now: Date): boolean {
  const { certificate, key } = kept;
  if (key === undefined || !certificate.checkPrivateKey(key)) return false;
  if (!isOurs(kept)) return true;
  return Date.parse(certificate.validTo) - now.getTime() > RENEW_BEFORE && isFor(kept, options);
}

function isOurs({ certificate, authority }: KeptPair): boolean {
  return authority !== certificate && authority.subject === `CN=${AUTHORITY}` && certificate.checkIssued(authority);
}

function isFor({ certificate }: KeptPair, { hosts, addresses }: ServingCertificateOptions): boolean {
  const names = (certificate.subjectAltName ?? "").split(", ");
  return (
    names.length === hosts.length + addresses.length &&
    hosts.every((host) => names.includes(`DNS:${host}`)) &&
    addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** CA that signs client certificates of users. */
export interface ClientAuthority extends PairFiles {
  /** CA certificate as PEM, for `clientCertificates`. */
  readonly ca: string;
}

/**
 * Loads the CA `client-ca.crt` and its RSA key `client-ca.key`, or creates them, valid for ten years. It is used when
 * no `--client-ca-file` is given, and is replaced only after it has expired. The key may be moved elsewhere. Security:
 * whoever can read the key can impersonate any user. Only one process at a time may call this.
 *
 * @param dir directory, which must exist
 * @throws Error on files that are broken or do not match, and on files that cannot be written
 */
export async function clientAuthority(dir: string, now: Date = new Date()): Promise<ClientAuthority> {
  const files = { certFile: join(dir, "client-ca.crt"), keyFile: join(dir, "client-ca.key") };
  const kept = keptPair(files);
  if (kept !== undefined && Date.parse(kept.certificate.validTo) > now.getTime()) {
    if (kept.key === undefined || kept.certificate.checkPrivateKey(kept.key)) return { ...files, ca: kept.cert };
    throw new Error(
      `key in "${files.keyFile}" does not match the certificate in "${files.certFile}": put the matching key there, or remove both files`,
    );
  }
  const subject = { name: "kcp-client-ca", groups: [] };
  const { cert, key } = await issueCertificate({ subject, purpose: { kind: "authority" }, now, key: "RSA-2048" });
  // PKCS #1 is the form in which kcp's tools read RSA keys.
  const pem = createPrivateKey(key).export({ type: "pkcs1", format: "pem" }) as string;
  writeAtomically(files.keyFile, pem, 0o600);
  writeAtomically(files.certFile, cert, 0o644);
  return { ...files, ca: cert };
}
