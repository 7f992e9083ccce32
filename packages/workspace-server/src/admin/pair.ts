import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readIfThere } from "./files.ts";

/** The files of a certificate and its key. */
export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What is in them. */
export interface KeptPair {
  /** PEM, with those behind it. */
  readonly cert: string;
  /** The first of them. */
  readonly certificate: X509Certificate;
  /** Who has signed it, as far as the file says. */
  readonly authority: X509Certificate;
  /** `undefined`: there is no such file. */
  readonly key: KeyObject | undefined;
}

/**
 * Reads a pair; `undefined` when there is no certificate, whatever keys there are: a key without one serves nobody.
 *
 * @throws Error on what is no PEM: it is somebody else's doing, and not ours to replace
 */
export function keptPair({ certFile, keyFile }: PairFiles): KeptPair | undefined {
  const cert = readIfThere(certFile)?.toString("utf8");
  if (cert === undefined) return undefined;
  const key = readIfThere(keyFile)?.toString("utf8");
  const blocks = cert.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return readable({ certFile, keyFile }, () => {
    const [certificate, authority = certificate] = blocks.map((block) => new X509Certificate(block));
    if (certificate === undefined || authority === undefined) throw new Error("no certificate");
    return { cert, certificate, authority, key: key === undefined ? undefined : createPrivateKey(key) };
  });
}

/** OpenSSL's own errors say nothing that helps. */
function readable<T>({ certFile, keyFile }: PairFiles, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${certFile} and ${keyFile} hold no PEM certificate and key: put them back, or remove both`, {
      cause,
    });
  }
}
