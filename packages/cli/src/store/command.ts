import { type Command, parse, UsageError } from "../usage.ts";
import { backupTo, restoreFrom } from "./copies.ts";
import { ETCD_HELP, STORE_FLAGS, type StoreChoice, storeChoice } from "./options.ts";

export const store: Command = {
  help: `Usage: virtual-workspaces store backup --to <file> --data-dir <folder>
       virtual-workspaces store restore --from <file> --data-dir <folder>

Copies all that a store holds at one moment into a file, also while a server is running on it; and back, into a store that
holds nothing. The file can be read by its owner alone, and restored into any engine: a folder, or etcd. Clients that
resume a watch after a restore get 410 and list again.

Flags:
  --to <file>                     what to write: there must be no such file
  --from <file>                   what to read
  --data-dir <folder>             the store, if it is a folder
${ETCD_HELP}`,

  async run(args) {
    const { values, positionals } = parse(args, { to: { type: "string" }, from: { type: "string" }, ...STORE_FLAGS });
    const { to, from } = values;
    const action = actionOf(positionals);
    if (action === "backup") {
      if (from !== undefined) throw new UsageError("--from is for restore: name the file to write with --to");
      const file = named(to, "--to is missing: name the file to write");
      console.log(await backupTo(file, durable(storeChoice(values, process.env))));
    } else {
      if (to !== undefined) throw new UsageError("--to is for backup: name the file to read with --from");
      const file = named(from, "--from is missing: name the file that a backup has written");
      console.log(await restoreFrom(file, durable(storeChoice(values, process.env))));
    }
    return 0;
  },
};

function actionOf([action, ...others]: readonly string[]): "backup" | "restore" {
  if (action === undefined) throw new UsageError("say what to do: backup or restore");
  if (action !== "backup" && action !== "restore")
    throw new UsageError(`there is nothing called ${action}: say backup or restore`);
  if (others.length > 0)
    throw new UsageError(`${others[0]} is one word too many: files and folders are named by flags`);
  return action;
}

function named(file: string | undefined, complaint: string): string {
  if (file === undefined || file === "") throw new UsageError(complaint);
  return file;
}

/** What is in memory is another process's. */
function durable(choice: StoreChoice): Exclude<StoreChoice, { engine: "memory" }> {
  if (choice.engine === "memory") throw new UsageError("name the store: --data-dir, or --etcd-servers");
  return choice;
}
