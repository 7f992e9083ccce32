import { commandLine, type Values } from "../flags/table.ts";

/** Command line of `virtual-workspaces manifests`. */
export const MANIFESTS = commandLine({
  program: "virtual-workspaces manifests",
  words: "<view>...",
  summary: "print the manifests that views need",
  usage: ["<file or package>... [flags]", "--rbac --user <names> [<file or package>...] [flags]"],
  description: `Prints the objects that views need in the workspace of their provider: kinds, exports with schemas, roles. A module exports them as \`manifests\`. Security: the module runs with your rights. Nothing is applied without --apply.

With --rbac it prints the rights of the user of \`serve --kcp-views=false\` instead: a ClusterRole and its binding. The role has the rights of the server itself, and those that the modules export as \`permissions\`. kcp's own views need a user in system:masters, and no role can replace that.

Examples:
  virtual-workspaces manifests ./view.ts | kubectl apply -f -
  virtual-workspaces manifests --rbac --user=inventory ./inventory.ts | kubectl apply -f -
  virtual-workspaces manifests --apply --kubeconfig=init.kubeconfig ./inventory.ts

Apply the list twice with kubectl when it has objects of a kind that the list itself defines. The flag --apply needs no kubectl. It waits for the workspace and for kinds, and may run again and several times at once, as in an init container.`,
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
      apply: {
        type: "switch",
        help: "Apply the objects in the workspace of --kubeconfig by server-side apply, and take over all their fields.",
      },
      kubeconfig: { type: "path", value: "file", otherwise: "like kubectl", help: "With --apply: kubeconfig." },
      context: { type: "text", value: "name", otherwise: "the current context", help: "With --apply: its context." },
      timeout: {
        type: "duration",
        value: "time",
        otherwise: "3m",
        help: "With --apply: time to retry until all objects are applied.",
      },
    },
  },
});

/** Values of the flags. */
export type ManifestsFlags = Values<(typeof MANIFESTS)["flags"]>;
