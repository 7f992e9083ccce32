import { constants } from "node:os";
import { isStoreError, StoreError, type StoreErrorCode } from "../store-error.ts";

const { errno } = constants;

const FULL = new Set<unknown>(["ENOSPC", "EDQUOT", "EFBIG", errno.ENOSPC, errno.EDQUOT, errno.EFBIG, -30792]);
const REFUSED = new Set<unknown>(["EACCES", "EPERM", "EROFS", errno.EACCES, errno.EPERM, errno.EROFS]);
const BROKEN = new Set<unknown>(["EIO", "EISDIR", errno.EIO, -30797, -30796, -30793, -30779, -30778]);
const NO_FOLDER = new Set<unknown>(["EEXIST", "ENOTDIR", errno.EEXIST, errno.ENOTDIR]);
const NEWER = -30794;

const REMEDIES = {
  NoSpace: "the disk is full: free some space; no data was lost, and writes resume when there is space",
  ReadOnly: "it is not writable: give this user write permission, or open it with readOnly",
  Damaged:
    "it is damaged: restore a backup into an empty directory, or move this one away to start with an empty store",
  NewerFormat: "a newer version of this package wrote it: install that version again, or restore a backup",
  Invalid: "it is not a directory, or below a file: choose another one",
  Unavailable: "it is unavailable: fix the system's error, or choose another directory",
} satisfies Partial<Record<StoreErrorCode, string>>;

/** Converts an error of the file system or LMDB. */
export function faultOf(error: unknown, dir: string): StoreError {
  if (isStoreError(error)) return error;
  const code = codeOf(codeIn(error));
  const why = code === "Unavailable" ? ` (${error instanceof Error ? error.message : error})` : "";
  return new StoreError(code, `the store in ${dir}: ${REMEDIES[code]}${why}`, { cause: error });
}

/** Converts an error of a group that was not written. LMDB reports EIO if the disk took only a part, as a full one does. */
export function writeFault(error: unknown, dir: string): StoreError {
  if (codeIn(error) !== errno.EIO) return faultOf(error, dir);
  const message = `the store in ${dir}: the disk is full or failing, or this user's quota is used up: free some space`;
  return new StoreError("NoSpace", `${message}; the write was not applied, and writes resume when there is space`, {
    cause: error,
  });
}

/** Returns the error for data that differs from what was written. */
export function damaged(dir: string, what: string): StoreError {
  return new StoreError("Damaged", `the store in ${dir} (${what}): ${REMEDIES.Damaged}`);
}

export function newerFormat(dir: string): StoreError {
  return new StoreError("NewerFormat", `the store in ${dir}: ${REMEDIES.NewerFormat}`);
}

function codeIn(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}

function codeOf(code: unknown): keyof typeof REMEDIES {
  if (FULL.has(code)) return "NoSpace";
  if (REFUSED.has(code)) return "ReadOnly";
  if (NO_FOLDER.has(code)) return "Invalid";
  if (code === NEWER) return "NewerFormat";
  return BROKEN.has(code) ? "Damaged" : "Unavailable";
}
