import { constants } from "node:os";
import { isStoreError, StoreError, type StoreErrorCode } from "../store-error.ts";

const { errno } = constants;

const FULL = new Set<unknown>(["ENOSPC", "EDQUOT", "EFBIG", errno.ENOSPC, errno.EDQUOT, errno.EFBIG, -30792]);
const REFUSED = new Set<unknown>(["EACCES", "EPERM", "EROFS", errno.EACCES, errno.EPERM, errno.EROFS]);
const BROKEN = new Set<unknown>(["EIO", "EISDIR", errno.EIO, -30797, -30796, -30793, -30779, -30778]);
const NO_FOLDER = new Set<unknown>(["EEXIST", "ENOTDIR", errno.EEXIST, errno.ENOTDIR]);
const NEWER = -30794;

const REMEDIES = {
  NoSpace: "the disk is full: make room; nothing was lost, and writing goes on when there is space",
  ReadOnly: "it cannot be written: give this user the right to write there, or open it with readOnly",
  Damaged: "it is damaged: restore a backup into an empty directory, or move this one away to begin anew",
  NewerFormat: "it was written by a newer version of this package: install that version again, or restore a backup",
  Invalid: "it is no folder, or below a file: choose another one",
  Unavailable: "it cannot be used now: mend what the system says, or choose another directory",
} satisfies Partial<Record<StoreErrorCode, string>>;

/** What the file system or lmdb threw, as a store says it. */
export function faultOf(error: unknown, dir: string): StoreError {
  if (isStoreError(error)) return error;
  const code = codeOf(codeIn(error));
  const why = code === "Unavailable" ? ` (${error instanceof Error ? error.message : error})` : "";
  return new StoreError(code, `the store in ${dir}: ${REMEDIES[code]}${why}`, { cause: error });
}

/** The same of a group that was not written: lmdb takes a disk that took a part for one that fails. */
export function writeFault(error: unknown, dir: string): StoreError {
  if (codeIn(error) !== errno.EIO) return faultOf(error, dir);
  const message = `the store in ${dir}: the disk is full, a quota or limit of this user is reached, or the disk fails: make room`;
  return new StoreError("NoSpace", `${message}; nothing was done, and writing goes on when there is space`, {
    cause: error,
  });
}

/** What was read is not what was written. */
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
