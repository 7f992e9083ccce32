import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
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
