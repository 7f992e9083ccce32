// The example in the package's README prints the output below it.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";

describe("packages/kcp/README.md", () => {
  it("prints the documented output", async () => {
    const readme = readFileSync(join(root, "packages/kcp/README.md"), "utf8");
    const [, example = "", output = ""] =
      /^```ts\n([\s\S]*?)^```\n\nprints\n\n```\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@virtual-workspaces/source", "--input-type=module-typescript", "-e", example],
      { cwd: root, env: { ...process.env, NO_COLOR: "1" } },
    );
    expect(stdout).to.equal(output).and.contain("v1u4alow0iv9");
  });
});
