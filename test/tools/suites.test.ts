import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a suite as `npm run <suite> -- <args>` does. */
function run(suite: string, ...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const command = ["--conditions=@virtual-workspaces/source", "tools/bootstrap.mjs", "tools/test.mjs", suite, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("arguments of a suite", () => {
  it("runs the files of the suite below a named folder", () => {
    const { status, output } = run("test", "./test/workspaces/");
    expect(output).to.match(/^test: [1-9]\d* passed, 0 failed$/m);
    expect(output).to.contain("test/workspaces/readme.test.ts").and.not.contain("test/transport/");
    expect(status).to.equal(0);
  });

  it("rejects a folder that holds no test of the suite", () => {
    const { status, output } = run("test", "test/workspaces", "test/go");
    expect(output).to.contain("no test of the suite test is below test/go");
    expect(status).not.to.equal(0);
  });

  it("does not treat the value of an option as a folder", () => {
    const { output } = run("test", "-g", "docs", "test/workspaces/readme.test.ts");
    expect(output).to.contain("test: 0 passed, 0 failed");
  });
});
