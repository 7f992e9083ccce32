import { STORE_FLAGS } from "../flags/servers.ts";
import { commandLine } from "../flags/table.ts";

/** The command line of `virtual-workspaces dev`. */
export const DEV = commandLine({
  program: "virtual-workspaces dev",
  words: "<file or folder>...",
  summary: "serve views on this machine, reloading them on save",
  description: `Serves views on this machine, over TLS, and reloads them on save. A file must have a view, or a list of views, as its default export, or a function that makes it of a host; of a folder every module counts that has one.`,
  sections: {
    Flags: {
      // Beside Kubernetes' and kcp's own 6443.
      port: { type: "text", value: "number", default: "6444", help: "Port, or the next free one after it; 0 for any." },
      dir: {
        type: "path",
        value: "folder",
        default: ".virtual-workspaces",
        help: "Where certificates and the kubeconfig are kept.",
      },
      quiet: { type: "switch", default: false, help: "Do not log requests." },
    },
    "Where views that are functions of the host keep their objects; in memory, lost on reload and restart, unless one is given":
      STORE_FLAGS,
  },
});
