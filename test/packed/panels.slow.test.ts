// The panels in the packages of plugins, as users install them: JavaScript that browsers load, with all files that a panel names.
import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { localNode } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { tarballs } from "../_support/tarballs.ts";

/** Prints the files of each panel. */
const PRINT = `
import { clusterProxyPanels } from "@virtual-workspaces/cluster-proxy/panels";
import { panelFiles } from "@virtual-workspaces/framework/server";
import { spacesPanels } from "@virtual-workspaces/spaces/panels";

const all = [...clusterProxyPanels, ...spacesPanels];
console.log(JSON.stringify(all.map((panel) => ({ name: panel.name, files: panelFiles(panel) }))));
`;

describe("packed panels", function () {
  this.timeout(300_000);

  it("have all files that they name, as JavaScript whose imports are among them", async () => {
    using user = tree({
      "package.json": '{ "name": "user", "private": true, "type": "module" }',
      "print.mjs": PRINT,
    });
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    const installed = await run("npm", [...install, ...(await tarballs())], { cwd: user.path });
    expect(installed.ok, installed.output).to.equal(true);
    const { ok, output } = await run(localNode, ["print.mjs"], { cwd: user.path });
    expect(ok, output).to.equal(true);
    const panels = JSON.parse(output) as readonly { readonly name: string; readonly files: readonly string[] }[];
    expect(panels.map(({ name }) => name)).to.deep.equal(["cluster-proxy", "space", "space-provider", "spaces"]);
    for (const file of panels.flatMap(({ files }) => files)) {
      expect(file).to.match(/\/dist\/panel\/\w+\.js$/);
      expect(existsSync(new URL(file)), file).to.equal(true);
    }
    for (const { files } of panels)
      for (const file of files)
        for (const [, name = ""] of readFileSync(new URL(file), "utf8").matchAll(/ from "(.+)"/g))
          expect(files, `${file} imports ${name}`).to.include(new URL(name, file).href);
  });
});
