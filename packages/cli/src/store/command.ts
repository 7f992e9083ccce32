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
import { readFlags } from "../flags/read.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { abortOnInterrupt } from "../process/interrupt.ts";
import { counted, Progress } from "../process/progress.ts";
import { openStore, plainly } from "../server/open-store.ts";
import { type EtcdChoice, type FolderChoice, storeChoice } from "../server/store-choice.ts";
import { STORE } from "./flags.ts";

/** Runs `virtual-workspaces store`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values, words } = readFlags(args, STORE);
  const { to, from } = values;
  const action = actionOf(words);
  if (action === "backup" && from !== undefined) throw new UsageError("--from is for restore: name the file with --to");
  if (action === "restore" && to !== undefined) throw new UsageError("--to is for backup: name the file with --from");
  const file = action === "backup" ? to : from;
  if (!file) throw new UsageError(MISSING[action]);
  const choice = storeChoice(values, process.env);
  if (choice.engine === "memory") throw new UsageError("name the store: --data-dir, or --etcd-servers");
  using interrupt = abortOnInterrupt(); // takes away what is not whole
  const copy = { file, signal: interrupt.signal, quiet: values.quiet };
  if (action === "backup") console.log(await backupStore(choice, copy));
  else if (choice.engine === "lmdb") console.log(await restoreStore(choice.dir, copy));
  else throw new UsageError(NOT_ETCD);
  return 0;
}

const MISSING = {
  backup: "--to is missing: name the file to write",
  restore: "--from is missing: name the file that a backup has written",
};

const NOT_ETCD =
  "an etcd is restored from its own snapshots, with `etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted`; " +
  "here --data-dir names a folder";

function actionOf([action, ...others]: readonly string[]): "backup" | "restore" {
  if (action === undefined) throw new UsageError("say what to do: backup or restore");
  if (action !== "backup" && action !== "restore")
    throw new UsageError(`there is nothing called ${action}: say backup or restore`);
  if (others.length > 0) throw new UsageError(`${others[0]} is one word too many: flags name files and folders`);
  return action;
}

/** Copy of a store in a file, and how to write or read it. */
interface Copy {
  readonly file: string;
  readonly signal: AbortSignal;
  readonly quiet: boolean | undefined;
}

/** Writes all that a store holds into a file. @returns what to say of it @throws Failure */
async function backupStore(choice: EtcdChoice | FolderChoice, { file, signal, quiet }: Copy): Promise<string> {
  return plainly(async () => {
    using progress = new Progress(`writing ${file}`, { quiet });
    await using store = choice.engine === "etcd" ? await openStore(choice) : await openToRead(choice.dir, file);
    const onProgress = (count: number): void => progress.set(`writing ${file}: ${counted(count, "key")}`);
    const info = await backup(store, file, { signal, onProgress });
    return `${file} has ${described(info)}`;
  });
}

/** Puts what a backup holds into a new store in a folder. @returns what to say of it @throws Failure */
async function restoreStore(dir: string, { file, signal, quiet }: Copy): Promise<string> {
  return plainly(async () => {
    using progress = new Progress(`checking ${file}`, { quiet });
    const info = await readBackup(file);
    if (namesIn(dir).length > 0)
      throw new Failure(`${dir} is not empty: a backup is restored into a folder that is new or empty; name another`);
    await using store = await lmdbStore({ dir, revision: revisionAfter(info) });
    const onProgress = (count: number): void =>
      progress.set(`restoring ${dir}: ${count.toLocaleString("en-US")} of ${counted(info.count, "key")}`);
    await restore(file, store, { signal, onProgress });
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
