import { commandLine } from "../flags/table.ts";
import { KUBECTL_FLAGS, UNUSED_KUBECTL_FLAGS } from "../kubectl/connection.ts";

/** Command line of `virtual-workspaces console`. */
export const CONSOLE = commandLine({
  program: "virtual-workspaces console",
  words: "",
  summary: "print a one-time link to the console",
  usage: ["[kubectl's flags]"],
  description: `Prints a link that signs a browser in to the console of the kubeconfig's server, as the kubeconfig's user. The link works once, within an hour. The user needs a token: a browser cannot get a client certificate this way.

Security: another person who opens the link first acts as this user.

Examples:
  virtual-workspaces console                  as the current user
  virtual-workspaces console --context=base   as the user of another context`,
  sections: { "As of kubectl": KUBECTL_FLAGS, "Of kubectl, without effect": UNUSED_KUBECTL_FLAGS },
});
