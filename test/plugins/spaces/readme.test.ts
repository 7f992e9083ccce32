// The example of the package's README runs as printed.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../../../tools/install.mjs";

describe("packages/plugins/spaces/README.md", () => {
  it("runs as printed", async () => {
    const readme = readFileSync(join(root, "packages/plugins/spaces/README.md"), "utf8");
    const [, example = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@virtual-workspaces/source", "--input-type=module-typescript", "-e", example],
      { cwd: root },
    );
    expect(stdout.trim().split("\n")).to.deep.equal(["shop is Ready by default [ 'shop' ]", "[]"]);
  });
});
