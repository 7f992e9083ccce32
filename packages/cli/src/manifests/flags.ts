import { commandLine } from "../flags/table.ts";

/** Command line of `virtual-workspaces manifests`. */
export const MANIFESTS = commandLine({
  program: "virtual-workspaces manifests",
  words: "<view>...",
  summary: "print the manifests that views need",
  usage: ["<file or package>... [flags]"],
  description: `Prints the objects that views need in the workspace of their provider: kinds, exports with schemas, roles. A module exports them as \`manifests\`. Security: the module runs with your rights. Nothing is applied.

Examples:
  virtual-workspaces manifests ./view.ts | kubectl apply -f -

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
    },
  },
});
