import { commandLine } from "../flags/table.ts";
import { KUBECTL_FLAGS, UNUSED_KUBECTL_FLAGS } from "../kubectl/connection.ts";

export const USES = "[<url>] | export [<path>:]<name> | mount [<path>:]<workspace> | clusterproxy [<path>:]<name>";

/** The command line of `virtual-workspaces doctor`. */
export const DOCTOR = commandLine({
  program: "virtual-workspaces doctor",
  words: "[<url>]",
  summary: "say what is wrong with a server, an export, a mount, and the remedy",
  usage: [`${USES} [kubectl's flags]`],
  description: `Looks step by step for what is wrong, changes nothing, and says of the first thing that is what can be done about it: whether a server is reached, ready, knows the user and lets them in, whether watches come through, how far an index is behind; of an APIExport besides whether it is right, published, reached, bound, its claims accepted; of a mounted workspace what it hangs on; of a ClusterProxy its agent, and whether the remote cluster answers. Without a URL the server is that of the kubeconfig. Exits with 1 when something is wrong.

  virtual-workspaces doctor                        the server, or workspace, that kubectl would ask
  virtual-workspaces doctor <url>                  another URL, with the same user: of a workspace, of a view
  virtual-workspaces doctor export widgets         an APIExport of the current workspace
  virtual-workspaces doctor export root:a:widgets  or of another one
  virtual-workspaces doctor mount lab              a workspace in the current one that is mounted
  virtual-workspaces doctor clusterproxy shop      a remote cluster`,
  actions: ["export", "mount", "clusterproxy"],
  sections: {
    Flags: { output: { type: "text", short: "o", value: "json", help: "json for one JSON object for each step." } },
    "As of kubectl": KUBECTL_FLAGS,
    "Of kubectl, without effect": UNUSED_KUBECTL_FLAGS,
  },
});
