import { StoreError, type StoreErrorCode } from "../store-error.ts";

const CODES: Readonly<Record<string, { readonly code: StoreErrorCode; readonly why: string }>> = {
  ENOSPC: { code: "NoSpace", why: "the disk is full: make room, or write it elsewhere" },
  EDQUOT: { code: "NoSpace", why: "the quota of the disk is used up: make room, or write it elsewhere" },
  EROFS: { code: "ReadOnly", why: "the file system is read-only: write it elsewhere" },
  EACCES: { code: "ReadOnly", why: "this user must not write there: give it the right, or write it elsewhere" },
  EPERM: { code: "ReadOnly", why: "this user must not write there: give it the right, or write it elsewhere" },
  ENOENT: { code: "Invalid", why: "its folder does not exist: make it" },
  ENOTDIR: { code: "Invalid", why: "its folder is none: name another one" },
  EISDIR: { code: "Invalid", why: "it is a folder: name a file" },
};

/** Does something with a backup's file that is to be written; what fails is told with its remedy. */
export async function writing<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const known = CODES[codeOf(error)];
    if (known === undefined) throw error;
    throw new StoreError(known.code, `the backup ${file} cannot be written: ${known.why}`, { cause: error });
  }
}

/** Opens a backup's file; what fails is told with its remedy. */
export async function reading<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT")
      throw new StoreError("Invalid", `there is no backup ${file}: name another file`, { cause: error });
    if (code === "EISDIR")
      throw new StoreError("Invalid", `${file} is a folder: name a backup's file`, { cause: error });
    if (code === "EACCES" || code === "EPERM")
      throw new StoreError("Invalid", `this user must not read the backup ${file}: give it the right`, {
        cause: error,
      });
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
