import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureRootDirectory } from "@virtual-workspaces/workspace-server";
import { readIfThere } from "../files.ts";
import { acquire, type Lock } from "../lock.ts";
import { Failure } from "../usage.ts";

/** Makes the folder where there is none, and takes it for this process. @throws Failure */
export function takeRootDirectory(dir: string): Lock {
  try {
    ensureRootDirectory(dir);
    const lock = acquire(dir, "--root-directory");
    const ignore = join(dir, ".gitignore");
    if (readIfThere(ignore) === undefined) writeFileSync(ignore, "*\n");
    return lock;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      `${(error as Error).message}: give this user the right to write in ${dir}, or name another folder with --root-directory`,
      { cause: error },
    );
  }
}
