import { commandLine } from "../flags/table.ts";
import { KUBECTL_FLAGS, UNUSED_KUBECTL_FLAGS } from "../kubectl/connection.ts";

export const USES = "[<url>] | export [<path>:]<name> | mount [<path>:]<workspace> | clusterproxy [<path>:]<name>";

/** Command line of `virtual-workspaces doctor`. */
export const DOCTOR = commandLine({
  program: "virtual-workspaces doctor",
  words: "[<url>]",
  summary: "diagnose a server, an export, a mount or a remote cluster",
  usage: [`${USES} [kubectl's flags]`],
  description: `Checks a server step by step, changes nothing, and says for the first failure what to do. The steps of a server: reachable, ready, authentication, authorization, watches, age of an index. An APIExport, a mounted workspace and a ClusterProxy have steps of their own. Without a URL it checks the server of the kubeconfig. Exits with 1 when something is wrong.

Examples:
  virtual-workspaces doctor <url>                  another URL, as the same user
  virtual-workspaces doctor export widgets         an export of the current workspace
  virtual-workspaces doctor export root:a:widgets  an export of root:a
  virtual-workspaces doctor mount lab              a mounted workspace
  virtual-workspaces doctor clusterproxy shop      a remote cluster`,
  actions: ["export", "mount", "clusterproxy"],
  sections: {
    Flags: {
      output: {
        type: "text",
        short: "o",
        value: "json",
        help: "Output format; JSON output is one object for each step.",
      },
    },
    "As of kubectl": KUBECTL_FLAGS,
    "Of kubectl, without effect": UNUSED_KUBECTL_FLAGS,
  },
});
