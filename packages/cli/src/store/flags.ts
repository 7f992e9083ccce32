import { QUIET_FLAGS, STORE_FLAGS } from "../flags/servers.ts";
import { commandLine } from "../flags/table.ts";

/** Command line of `virtual-workspaces store`. */
export const STORE = commandLine({
  program: "virtual-workspaces store",
  words: "backup|restore",
  summary: "back up and restore a store",
  usage: ["backup --to <file> --data-dir <folder>", "restore --from <file> --data-dir <folder>"],
  description: `Backs up the content of a store at one moment to a file, even while a server uses the store, and restores such a file into an empty or new folder. The file is complete or absent, and readable by its owner alone. After a restore, clients get 410 and list again. Restore an etcd from its own snapshots.

Examples:
  virtual-workspaces store backup --data-dir=.kcp/data --to=workspaces.backup
  virtual-workspaces store restore --from=workspaces.backup --data-dir=.kcp/data`,
  actions: ["backup", "restore"],
  sections: {
    Flags: {
      to: { type: "text", value: "file", help: "File to write; an existing file is replaced." },
      from: { type: "text", value: "file", help: "File to read." },
      ...STORE_FLAGS,
      "data-dir": { ...STORE_FLAGS["data-dir"], help: "Folder of the store." },
      ...QUIET_FLAGS,
    },
  },
});
