import { type Command, Failure, parse, UsageError } from "../usage.ts";
import { backupStore, restoreStore } from "./copies.ts";
import { ETCD_HELP, STORE_FLAGS, storeChoice } from "./options.ts";

export const store: Command = {
  help: `Usage: virtual-workspaces store backup --to <file> --data-dir <folder>
       virtual-workspaces store restore --from <file> --data-dir <folder>

Copies all that a store holds at one moment into a file, also while a server is running on it; and back, into a folder that
is empty or not there yet. The file is readable by its owner alone, and whole or not there. After a restore, clients that
go on from before get 410, and list again. An etcd is restored from its own snapshots.

Flags:
  --to <file>                     what to write, in the place of a file that is there
  --from <file>                   what to read
  --data-dir <folder>             the store, if it is a folder
${ETCD_HELP}`,

  async run(args) {
    const { values, positionals } = parse(args, { to: { type: "string" }, from: { type: "string" }, ...STORE_FLAGS });
    const { to, from } = values;
    const action = actionOf(positionals);
    if (action === "backup" && from !== undefined)
      throw new UsageError("--from is for restore: name the file with --to");
    if (action === "restore" && to !== undefined) throw new UsageError("--to is for backup: name the file with --from");
    const file = action === "backup" ? to : from;
    if (!file) throw new UsageError(MISSING[action]);
    const choice = storeChoice(values, process.env);
    if (choice.engine === "memory") throw new UsageError("name the store: --data-dir, or --etcd-servers");
    using interrupt = interrupted();
    if (action === "backup") console.log(await backupStore(choice, file, interrupt.signal));
    else if (choice.engine === "lmdb") console.log(await restoreStore(file, choice.dir, interrupt.signal));
    else throw new UsageError(NOT_ETCD);
    return 0;
  },
};

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

/** An interrupt ends the copying, which takes away what is not whole. */
function interrupted(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Failure("interrupted"));
  process.once("SIGINT", abort).once("SIGTERM", abort);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => void process.off("SIGINT", abort).off("SIGTERM", abort),
  };
}
