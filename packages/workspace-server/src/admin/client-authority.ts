import { createPrivateKey } from "node:crypto";
import { join } from "node:path";
import { issueCertificate } from "@virtual-workspaces/framework";
import { writeAtomically } from "./files.ts";
import { keptPair, type PairFiles } from "./pair.ts";

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
