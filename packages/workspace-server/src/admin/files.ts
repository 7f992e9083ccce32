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

/** The bytes of a file, `undefined` when there is none. @throws Error that names it, on what cannot be read */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read: ${code}`, { cause: error });
  }
}

/**
 * Writes a file so that a reader, and whoever comes after a crash, sees the old one or the new one, never a part.
 *
 * @param mode who may read it from then on, whatever the process's umask
 * @throws Error that names the file, and leaves the old one as it was
 */
export function writeAtomically(path: string, content: string | Buffer, mode: 0o600 | 0o644): void {
  const beside = `${path}.${process.pid}.new`;
  try {
    // What a process that was killed has left there may be another's to read.
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
    throw new Error(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}

/** Only then does the name survive a loss of power. */
function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

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

/**
 * Makes the folder in which a server keeps all that is its own (`--root-directory`), for its owner alone; one that is there
 * stays as it is.
 *
 * @throws Error when it is a file, or cannot be made
 */
export function ensureRootDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    throw new Error(`"${path}" is a file, please delete or select another location`);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`${path} cannot be made: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}
