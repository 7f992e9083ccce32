import { CONSOLE_FLAGS, STORE_FLAGS } from "../flags/servers.ts";
import { commandLine } from "../flags/table.ts";

/** Command line of `virtual-workspaces dev`. */
export const DEV = commandLine({
  program: "virtual-workspaces dev",
  words: "<file or folder>...",
  summary: "serve views on this machine, and reload them on save",
  description: `Serves views on this machine over TLS, and reloads them on save. The default export of a file is a view, a list of views, or a function that returns either. Of a folder, every module with such an export is served. Its kubeconfig has the users admin, in the group system:masters, and guest, in no group of its own (only system:authenticated), to see what views show to others. Each user has a client certificate and a token.

The console shows all views with the path /clusters/:cluster as the workspace root. The printed link signs a browser in once, within an hour, as admin; virtual-workspaces console --context=guest prints one of the guest.

While no process serves, after an uncaught error for example, clients get 503 with the reason; the next save starts one.

Examples:
  virtual-workspaces dev ./view.ts                  one view, with objects in memory
  virtual-workspaces dev ./views --data-dir=data    a folder of views, with the store on disk
  virtual-workspaces dev ./view.ts --user=ann:red   a further user, in the group red`,
  sections: {
    Flags: {
      // Next to 6443, the port of Kubernetes and kcp.
      port: {
        type: "text",
        value: "number",
        default: "6444",
        help: "Port, or the next free one; 0 for any free port.",
      },
      dir: {
        type: "path",
        value: "folder",
        default: ".virtual-workspaces",
        help: "Folder of certificates and kubeconfig.",
      },
      user: {
        type: "texts",
        value: "name[:group,...]",
        help: "Further user, with a context of the same name: ann, or ann:red,blue for a user in two groups. Repeat it for more users.",
      },
      quiet: { type: "switch", default: false, help: "Do not log requests." },
      console: {
        ...CONSOLE_FLAGS.console,
        help: "Serve the console, a web page for views and their objects, at /console.",
      },
    },
    "Storage of views that are functions (default: in memory, lost on reload and restart)": STORE_FLAGS,
  },
});
