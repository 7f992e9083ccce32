import { mkdirSync, statSync } from "node:fs";

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
