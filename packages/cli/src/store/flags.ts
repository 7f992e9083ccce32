import { STORE_FLAGS } from "../flags/servers.ts";
import { commandLine } from "../flags/table.ts";

/** The command line of `virtual-workspaces store`. */
export const STORE = commandLine({
  program: "virtual-workspaces store",
  words: "backup|restore",
  summary: "copy what a store holds into a file, and back",
  usage: ["backup --to <file> --data-dir <folder>", "restore --from <file> --data-dir <folder>"],
  description: `Copies all that a store holds at one moment into a file, also while a server is running on it; and back, into a folder that is empty or not there yet. The file is readable by its owner alone, and whole or not there. After a restore, clients that go on from before get 410, and list again. An etcd is restored from its own snapshots.`,
  actions: ["backup", "restore"],
  sections: {
    Flags: {
      to: { type: "text", value: "file", help: "File to write, in the place of a file that is there." },
      from: { type: "text", value: "file", help: "File to read." },
      ...STORE_FLAGS,
      "data-dir": { ...STORE_FLAGS["data-dir"], help: "The store, if it is a folder." },
    },
  },
});
