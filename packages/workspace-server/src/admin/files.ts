import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** Returns the bytes of a file; `undefined` if it does not exist. @throws Error with the path, if it cannot be read */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(`cannot read file "${path}": ${code}`, { cause: error });
  }
}

/**
 * Writes a file atomically: after a crash, and at any time for readers, it has the old content or the new one.
 *
 * @param mode permissions of the file, whatever the process's umask
 * @throws Error with the path; the old file is unchanged
 */
export function writeAtomically(path: string, content: string | Buffer, mode: 0o600 | 0o644): void {
  const beside = `${path}.${process.pid}.new`;
  try {
    // A file that a killed process left there may have other permissions.
    rmSync(beside, { force: true });
    const file = openSync(beside, "wx", mode);
    try {
      const bytes = Buffer.from(content);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(beside, { force: true });
    throw new Error(`cannot write file "${path}": ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}

/** Makes the file's name survive a power loss. */
function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Paths of a certificate and its key. */
export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Content of the files of a certificate and its key. */
export interface KeptPair {
  /** Certificate and its chain, PEM. */
  readonly cert: string;
  /** First certificate of the file. */
  readonly certificate: X509Certificate;
  /** Issuer of the first certificate, as far as the file has it. */
  readonly authority: X509Certificate;
  /** Private key; `undefined` if there is no such file. */
  readonly key: KeyObject | undefined;
}

/**
 * Reads a certificate and its key; `undefined` without a certificate, since a key alone is of no use.
 *
 * @throws Error when a file is not PEM: an administrator put it there, and the server must not replace it
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

/** Replaces OpenSSL's own errors, which do not help. */
function readable<T>({ certFile, keyFile }: PairFiles, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`no PEM certificate and key in "${certFile}" and "${keyFile}": restore the files, or remove both`, {
      cause,
    });
  }
}

/**
 * Creates the server's data directory (`--root-directory`), accessible to its owner only. An existing directory is
 * unchanged.
 *
 * @throws Error when it is a file, or cannot be created
 */
export function ensureRootDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    throw new Error(`"${path}" is a file, please delete or select another location`);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`cannot create directory "${path}": ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}
