// The example of the package's README prints the documented output.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";

describe("packages/front-proxy/README.md", () => {
  // Below the repository, because it imports its packages.
  const folder = mkdtempSync(join(root, "node_modules", ".readme-"));
  after(() => rmSync(folder, { recursive: true }));

  it("prints the documented output", async () => {
    const readme = readFileSync(join(root, "packages/front-proxy/README.md"), "utf8");
    const [, example = "", output = ""] = /^```ts\n([\s\S]*?)^```\n\nprints `([^`]*)`/m.exec(readme) ?? [];
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@virtual-workspaces/source", "--input-type=module-typescript", "-e", example],
      { cwd: folder },
    );
    expect([stdout, stderr]).to.deep.equal([`${output}\n`, ""]);
    expect(output).to.match(/^200 /);
  });
});
