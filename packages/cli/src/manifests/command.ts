import { type Command, parse, UsageError } from "../usage.ts";

export const manifests: Command = {
  help: `Usage: virtual-workspaces manifests <file or package>... [flags]

Prints what views need in the workspace of whoever provides them: kinds, exports and their schemas, roles. It is what their
modules export as \`manifests\`; modules are imported, and run with your rights. Nothing is applied:

  virtual-workspaces manifests ./view.ts | kubectl apply -f -

Objects of a kind that is defined by the same list may need a second turn, once the kind is established.

Flags:
  -o, --output <format>  yaml, or json for one List                   (default yaml)`,

  async run(args) {
    const { values, positionals } = parse(args, { output: { type: "string", short: "o" } });
    // As kubectl takes it, `-o=json` too.
    const output = (values.output ?? "yaml").replace(/^=/, "");
    if (positionals.length === 0)
      throw new UsageError("name files of views, or packages: virtual-workspaces manifests ./view.ts");
    if (output !== "yaml" && output !== "json") throw new UsageError(`-o ${output}: give yaml or json`);
    const [{ readManifests }, { yamlOf }] = await Promise.all([import("./read.ts"), import("./yaml.ts")]);
    const items = await readManifests(positionals);
    const text =
      output === "json"
        ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 2)}\n`
        : items.map(yamlOf).join("---\n");
    await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
    return 0;
  },
};
