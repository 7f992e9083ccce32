import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import {
  backup,
  isStoreError,
  lmdbStore,
  readBackup,
  restore,
  revisionAfter,
  type Store,
} from "@virtual-workspaces/store";
import { readFlags, unknownCommand } from "../flags/read.ts";
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
  if (action === "backup" && from !== undefined)
    throw new UsageError("--from works only with restore: use --to for the file of a backup");
  if (action === "restore" && to !== undefined)
    throw new UsageError("--to works only with backup: use --from for the file to restore");
  const file = action === "backup" ? to : from;
  if (!file) throw new UsageError(MISSING[action]);
  const choice = storeChoice(values, process.env);
  if (choice.engine === "memory") throw new UsageError("no store given: set --data-dir or --etcd-servers");
  using interrupt = abortOnInterrupt(); // an aborted backup or restore removes its partial files
  const copy = { file, signal: interrupt.signal, quiet: values.quiet };
  if (action === "backup") console.log(await backupStore(choice, copy));
  else if (choice.engine === "lmdb") console.log(await restoreStore(choice.dir, copy));
  else throw new UsageError(NOT_ETCD);
  return 0;
}

const MISSING = {
  backup: "--to is required: set it to the file to write",
  restore: "--from is required: set it to the file of a backup",
};

const NOT_ETCD =
  "restore an etcd from its own snapshots, with `etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted`; " +
  "this command restores into --data-dir";

function actionOf([action, ...others]: readonly string[]): "backup" | "restore" {
  if (action === undefined) throw new UsageError("missing command: use backup or restore");
  if (action !== "backup" && action !== "restore") throw new UsageError(unknownCommand(action, ["backup", "restore"]));
  if (others.length > 0) throw new UsageError(`unexpected argument "${others[0]}": name files and folders with flags`);
  return action;
}

/** Copy of a store in a file, and how to write or read it. */
interface Copy {
  readonly file: string;
  readonly signal: AbortSignal;
  readonly quiet: boolean | undefined;
}

/** Writes the content of a store to a file. @returns the text to print @throws Failure */
async function backupStore(choice: EtcdChoice | FolderChoice, { file, signal, quiet }: Copy): Promise<string> {
  return plainly(async () => {
    using progress = new Progress(`writing ${file}`, { quiet });
    await using store = choice.engine === "etcd" ? await openStore(choice) : await openToRead(choice.dir, file);
    const onProgress = (count: number): void => progress.set(`writing ${file}: ${counted(count, "key")}`);
    const info = await backup(store, file, { signal, onProgress });
    return `backed up ${counted(info.count, "key")} into ${file} (revision ${info.revision})`;
  });
}

/** Restores a backup into a new store in a folder. @returns the text to print @throws Failure */
async function restoreStore(dir: string, { file, signal, quiet }: Copy): Promise<string> {
  return plainly(async () => {
    using progress = new Progress(`checking ${file}`, { quiet });
    const info = await readBackup(file);
    if (namesIn(dir).length > 0) throw new Failure(`${dir} is not empty: restore into a new or empty folder`);
    await using store = await lmdbStore({ dir, revision: revisionAfter(info) });
    const onProgress = (count: number): void =>
      progress.set(`restoring ${dir}: ${count.toLocaleString("en-US")} of ${counted(info.count, "key")}`);
    await restore(file, store, { signal, onProgress });
    return `restored ${counted(info.count, "key")} into ${dir}, from a backup of ${info.time} (revision ${info.revision})`;
  });
}

/** Lists a folder, which may not exist. */
function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    const why = code === "ENOTDIR" ? "it is not a folder, or below a file" : message;
    throw new Failure(`cannot restore into ${dir}: ${why}; use a new or empty folder`);
  }
}

async function openToRead(dir: string, file: string): Promise<Store> {
  if (!existsSync(dir)) throw new Failure(`folder ${dir} does not exist: use the folder of the server's store`);
  if (isBelow(dir, dirname(resolve(file))))
    throw new Failure(`--to ${file} is in ${dir}, the store itself: write the backup to another folder`);
  try {
    return await lmdbStore({ dir, readOnly: true });
  } catch (error) {
    if (!isStoreError(error) || error.code !== "ReadOnly") throw error;
    // Errors of the file system have a cause.
    if (error.cause === undefined) throw new Failure(`${dir} contains no store: use the folder of the server's store`);
    throw new Failure(`cannot read the store in ${dir}: give this user permission`);
  }
}

/** Returns whether a folder is another one or in it, after resolving links. */
function isBelow(dir: string, folder: string): boolean {
  return existsSync(folder) && `${realpathSync(folder)}${sep}`.startsWith(`${realpathSync(dir)}${sep}`);
}
