import { readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * Writes a file so that a reader sees the old one or the new one, never a part.
 *
 * @param mode who may read it; default: its owner alone
 */
export function writePrivately(path: string, text: string, mode = 0o600): void {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, text, { mode });
  renameSync(beside, path);
}

/** The text of a file, `undefined` when there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
