import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { type BackupInfo, backup, lmdbStore, readBackup, restore, revisionAfter } from "@virtual-workspaces/store";
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
    if (existsSync(dir) && readdirSync(dir).length > 0)
      throw new Failure(`${dir} is not empty: a backup is restored into a folder that is new or empty; name another`);
    await using store = await lmdbStore({ dir, revision: revisionAfter(info) });
    await restore(file, store, { signal });
    return `${dir} has ${described(info)}`;
  });
}

function openToRead(dir: string, file: string): ReturnType<typeof lmdbStore> {
  if (!existsSync(dir)) throw new Failure(`there is no folder ${dir}: name the one that the server has`);
  if (isBelow(dir, dirname(resolve(file))))
    throw new Failure(`--to ${file} is in ${dir}, the store itself: write the backup somewhere else`);
  return lmdbStore({ dir, readOnly: true });
}

/** Whether a folder is another one or in it, whatever links lead there. */
function isBelow(dir: string, folder: string): boolean {
  return existsSync(folder) && `${realpathSync(folder)}${sep}`.startsWith(`${realpathSync(dir)}${sep}`);
}

function described({ count, revision, engine, time }: BackupInfo): string {
  return `${count} keys, as they stood at revision ${revision} of ${engine}, ${time}`;
}
