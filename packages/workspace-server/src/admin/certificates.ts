import { createPrivateKey } from "node:crypto";
import { join } from "node:path";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { type KeptPair, keptPair, type PairFiles, writeAtomically } from "./files.ts";

/** A certificate with less than this left is made anew, ms. */
const RENEW_BEFORE = 30 * 24 * 60 * 60 * 1000;
/** Names whoever signs what is made here; of all other certificates in these files we keep our hands off. */
const AUTHORITY = "kcp-self-signed-ca";

/** By which names a server is called, and where its certificate is kept. */
export interface ServingCertificateOptions {
  /** `--cert-dir`: the root directory. It must be there. */
  readonly dir: string;
  /** DNS names. */
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  /** @default the clock */
  readonly now?: Date;
}

/** What a server shows, and what its clients trust. */
export interface ServingCertificate extends PairFiles {
  /** PEM of all in `apiserver.crt`: for kubeconfigs, and for `kube-root-ca.crt`. */
  readonly ca: string;
}

/**
 * The certificate in `apiserver.crt` with its key in `apiserver.key`, made when there is none: signed by an authority of its
 * own that stands behind it in the same file, and whose key nobody keeps. It is made anew within a month of its end, for
 * other names, and after a crash in between; one that somebody else has put there is used as it is. To be called by one
 * process at a time.
 *
 * @throws Error on files that are broken or do not belong together, on names that cannot be certified, and where files
 *   cannot be written
 */
export async function servingCertificate(options: ServingCertificateOptions): Promise<ServingCertificate> {
  const { dir, hosts, addresses, now = new Date() } = options;
  const files = { certFile: join(dir, "apiserver.crt"), keyFile: join(dir, "apiserver.key") };
  const kept = keptPair(files);
  if (kept !== undefined && isToKeep(kept, options, now)) return { ...files, ca: kept.cert };
  if (kept !== undefined && !isOurs(kept))
    throw new Error(
      `${files.keyFile} is not the key of the certificate in ${files.certFile}: put it there, or remove both`,
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

/** Who may certify users. */
export interface ClientAuthority extends PairFiles {
  /** PEM of its certificate: what `clientCertificates` takes. */
  readonly ca: string;
}

/**
 * The authority in `client-ca.crt` with its RSA key in `client-ca.key`, made when there is none, good for ten years: where no
 * `--client-ca-file` is given, whoever runs the server can certify users by it. It is made anew only when it has ended. The
 * key may be taken elsewhere: whoever can read it can pose as anybody. To be called by one process at a time.
 *
 * @param dir must be there
 * @throws Error on files that are broken or do not belong together, and where files cannot be written
 */
export async function clientAuthority(dir: string, now: Date = new Date()): Promise<ClientAuthority> {
  const files = { certFile: join(dir, "client-ca.crt"), keyFile: join(dir, "client-ca.key") };
  const kept = keptPair(files);
  if (kept !== undefined && Date.parse(kept.certificate.validTo) > now.getTime()) {
    if (kept.key === undefined || kept.certificate.checkPrivateKey(kept.key)) return { ...files, ca: kept.cert };
    throw new Error(
      `${files.keyFile} is not the key of the certificate in ${files.certFile}: put it there, or remove both`,
    );
  }
  const subject = { name: "kcp-client-ca", groups: [] };
  const { cert, key } = await issueCertificate({ subject, purpose: { kind: "authority" }, now, key: "RSA-2048" });
  // The form in which kcp's tools read RSA keys.
  const pem = createPrivateKey(key).export({ type: "pkcs1", format: "pem" }) as string;
  writeAtomically(files.keyFile, pem, 0o600);
  writeAtomically(files.certFile, cert, 0o644);
  return { ...files, ca: cert };
}
