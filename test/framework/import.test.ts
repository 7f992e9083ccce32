// Why: libraries that only some requests need, especially large ones, are loaded by the first of those: otherwise every start
// pays for them.
import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";

const LAZY = [
  "@kubernetes/client-node",
  "@marcbachmann/cel-js",
  "@peculiar/x509",
  "cborg",
  "express",
  "jose",
  "re2js",
  "yaml",
];

const SCRIPT = `
  import { registerHooks } from "node:module";
  const modules = [];
  registerHooks({ load: (url, context, next) => (modules.push(url), next(url, context)) });
  await import("@virtual-workspaces/framework");
  console.log(JSON.stringify(modules));`;

describe("the import of the framework", () => {
  it("loads no library that only some requests need", () => {
    const args = ["--conditions=@virtual-workspaces/source", "--input-type=module", "-e", SCRIPT];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    expect(stderr).to.equal("");
    const modules = JSON.parse(stdout) as string[];
    expect(modules.some((url) => url.endsWith("/framework/src/index.ts"))).to.equal(true);
    expect(LAZY.filter((name) => modules.some((url) => url.includes(`/node_modules/${name}/`)))).to.deep.equal([]);
  }).timeout(20_000);
});
