import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** Writes a file so that a reader sees the old one or the new one, never a part. Readable by its owner alone. */
export function keepPrivately(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

/** The text of a file, `undefined` when there is none. */
export function kept(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
