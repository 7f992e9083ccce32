// The panels in the packages of plugins, as users install them: JavaScript that browsers load, with all files that a panel names.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Panel } from "@virtual-workspaces/framework/panel";
import { panelFiles } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { tarballs } from "../_support/tarballs.ts";

describe("packed panels", function () {
  this.timeout(300_000);

  it("have all files that they name, as JavaScript whose imports are among them", async () => {
    using user = tree({ "package.json": '{ "name": "user", "private": true, "type": "module" }' });
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    const { ok, output } = await run("npm", [...install, ...(await tarballs())], { cwd: user.path });
    expect(ok, output).to.equal(true);
    const scope = join(user.path, "node_modules/@virtual-workspaces");
    const found: string[] = [];
    for (const path of globSync("*/dist/panels.js", { cwd: scope }).sort()) {
      const exported = (await import(pathToFileURL(join(scope, path)).href)) as Readonly<
        Record<string, readonly Panel[]>
      >;
      for (const panel of Object.values(exported).flat()) {
        found.push(panel.name);
        const files = panelFiles(panel);
        for (const file of files) {
          expect(file.pathname).to.match(/\.js$/);
          expect(existsSync(file), file.href).to.equal(true);
          const imported = [...readFileSync(file, "utf8").matchAll(/from "(.+)"/g)].map(([, name = ""]) => name);
          const known = files.map(({ href }) => href);
          for (const name of imported)
            expect(known, `${file.href} imports ${name}`).to.include(new URL(name, file).href);
        }
      }
    }
    expect(found).to.deep.equal(["cluster-proxy", "space", "space-provider", "spaces"]);
  });
});
