import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";

/** Runs one of the command's files with another version in `process.versions`. */
function run(file: string, version: string, ...args: readonly string[]) {
  using folder = tree({
    "old.mjs": `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`,
  });
  const flags = ["--import", join(folder.path, "old.mjs"), "--conditions=@virtual-workspaces/source"];
  return spawnSync(localNode, [...flags, join(root, "packages/cli/src", file), ...args], { encoding: "utf8" });
}

describe("a Node.js that is too old", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
    readonly engines: { readonly node: string };
  };
  const oldest = engines.node.replace(/^>=/, "");

  for (const [file, program] of [
    ["bin.ts", "virtual-workspaces"],
    ["kubectl-ws.ts", "kubectl ws"],
    ["kubectl-create-workspace.ts", "kubectl ws"],
  ] as const)
    for (const version of ["20.20.2", "22.18.0", "24.10.0"])
      it(`makes ${file} print one sentence and exit with 1 (${version})`, () => {
        const { status, stdout, stderr } = run(file, version, "--help");
        expect(stderr).to.match(
          new RegExp(
            `^${program} needs Node\\.js ${oldest} or newer, and /.*node is Node\\.js ${version}: put a newer node first on the PATH\\n$`,
          ),
        );
        expect([status, stdout]).to.deep.equal([1, ""]);
      });

  it("is not the oldest one that package.json states", () => {
    expect(run("bin.ts", `${oldest}.0`, "--version").status).to.equal(0);
  });
});
