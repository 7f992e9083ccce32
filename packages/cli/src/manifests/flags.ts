import { commandLine } from "../flags/table.ts";

/** The command line of `virtual-workspaces manifests`. */
export const MANIFESTS = commandLine({
  program: "virtual-workspaces manifests",
  words: "<view>...",
  summary: "print what views need installed",
  usage: ["<file or package>... [flags]"],
  description: `Prints what views need in the workspace of whoever provides them: kinds, exports and their schemas, roles. It is what their modules export as \`manifests\`; modules are imported, and run with your rights. Nothing is applied:

  virtual-workspaces manifests ./view.ts | kubectl apply -f -

Objects of a kind that is defined by the same list may need a second turn, once the kind is established.`,
  sections: {
    Flags: {
      output: { type: "text", short: "o", value: "yaml|json", default: "yaml", help: "Format; json is one List." },
    },
  },
});
