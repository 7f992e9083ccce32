// The example in the package's README prints the output it shows.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";

describe("packages/workspace-server/README.md", () => {
  // In the repository, so that it can import its packages.
  const folder = mkdtempSync(join(root, "node_modules", ".readme-"));
  after(() => rmSync(folder, { recursive: true }));

  it("shows the real output of its example", async () => {
    const readme = readFileSync(join(root, "packages/workspace-server/README.md"), "utf8");
    const [, example = "", output = ""] = /^```ts\n([\s\S]*?)^```\n\nprints `([^`]*)`/m.exec(readme) ?? [];
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@virtual-workspaces/source", "--input-type=module-typescript", "-e", example],
      { cwd: folder },
    );
    expect([stdout, stderr]).to.deep.equal([`${output}\n`, ""]);
    expect(output).to.equal("200 5");
  });
});
