import { commandLine, type Values } from "../flags/table.ts";

/** Command line of `virtual-workspaces manifests`. */
export const MANIFESTS = commandLine({
  program: "virtual-workspaces manifests",
  words: "<view>...",
  summary: "print the manifests that views need",
  usage: ["<file or package>... [flags]", "--rbac --user <names> [<file or package>...] [flags]"],
  description: `Prints the objects that views need in the workspace of their provider: kinds, exports with schemas, roles. A module exports them as \`manifests\`. Security: the module runs with your rights. Nothing is applied.

With --rbac it prints what the user of \`serve --kcp-views=false\` needs instead: a ClusterRole with the rights of the server itself, and those that the modules export as \`permissions\`, and its binding. kcp's own views need a user in system:masters, and no role can replace that.

Examples:
  virtual-workspaces manifests ./view.ts | kubectl apply -f -
  virtual-workspaces manifests --rbac --user=inventory ./inventory.ts | kubectl apply -f -

Apply the list twice when it has objects of a kind that the list itself defines.`,
  sections: {
    Flags: {
      output: {
        type: "text",
        short: "o",
        value: "yaml|json",
        default: "yaml",
        help: "Output format; JSON output is one List.",
      },
      rbac: { type: "switch", help: "Print the ClusterRole and the binding that serve needs, with --user or --group." },
      user: {
        type: "list",
        value: "names",
        help: "With --rbac: users to bind, as in system:serviceaccount:default:views.",
      },
      group: { type: "list", value: "names", help: "With --rbac: groups to bind." },
      name: {
        type: "text",
        value: "name",
        otherwise: "virtual-workspaces-serve",
        help: "With --rbac: name of the ClusterRole and of the binding.",
      },
    },
  },
});

/** Values of the flags. */
export type ManifestsFlags = Values<(typeof MANIFESTS)["flags"]>;
