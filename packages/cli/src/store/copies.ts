import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import {
  type BackupInfo,
  backup,
  isStoreError,
  lmdbStore,
  readBackup,
  restore,
  revisionAfter,
  type Store,
} from "@virtual-workspaces/store";
import { Failure } from "../usage.ts";
import { openStore, plainly } from "./open.ts";
import type { EtcdChoice, FolderChoice } from "./options.ts";

/** Writes all that a store holds into a file. @returns what to say of it @throws Failure */
export async function backupStore(
  choice: EtcdChoice | FolderChoice,
  file: string,
  signal: AbortSignal,
): Promise<string> {
  return plainly(async () => {
    await using store = choice.engine === "etcd" ? await openStore(choice) : await openToRead(choice.dir, file);
    const info = await backup(store, file, { signal });
    return `${file} has ${described(info)}`;
  });
}

/** Puts what a backup holds into a new store in a folder. @returns what to say of it @throws Failure */
export async function restoreStore(file: string, dir: string, signal: AbortSignal): Promise<string> {
  return plainly(async () => {
    const info = await readBackup(file);
    if (namesIn(dir).length > 0)
      throw new Failure(`${dir} is not empty: a backup is restored into a folder that is new or empty; name another`);
    await using store = await lmdbStore({ dir, revision: revisionAfter(info) });
    await restore(file, store, { signal });
    return `${dir} has ${described(info)}`;
  });
}

/** Of a folder that may not be there. */
function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    const why = code === "ENOTDIR" ? "it is no folder, or below a file" : message;
    throw new Failure(`${dir} cannot be restored into: ${why}; name a folder that is new or empty`);
  }
}

async function openToRead(dir: string, file: string): Promise<Store> {
  if (!existsSync(dir)) throw new Failure(`there is no folder ${dir}: name the one that the server has`);
  if (isBelow(dir, dirname(resolve(file))))
    throw new Failure(`--to ${file} is in ${dir}, the store itself: write the backup somewhere else`);
  try {
    return await lmdbStore({ dir, readOnly: true });
  } catch (error) {
    if (!isStoreError(error) || error.code !== "ReadOnly") throw error;
    // What the file system refuses is the cause of the other.
    if (error.cause === undefined)
      throw new Failure(`there is no store in ${dir}: name the folder that the server has`);
    throw new Failure(`the store in ${dir} cannot be read: give this user the right`);
  }
}

/** Whether a folder is another one or in it, whatever links lead there. */
function isBelow(dir: string, folder: string): boolean {
  return existsSync(folder) && `${realpathSync(folder)}${sep}`.startsWith(`${realpathSync(dir)}${sep}`);
}

function described({ count, revision, engine, time }: BackupInfo): string {
  return `${count} ${count === 1 ? "key" : "keys"}, as they stood at revision ${revision} of ${engine}, ${time}`;
}
