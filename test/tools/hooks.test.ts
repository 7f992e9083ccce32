import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a fixture like the suite, in a process of its own. */
function run(fixture: string): { readonly status: number | null; readonly output: string } {
  const file = `test/tools/fixtures/hooks/${fixture}.fixture.ts`;
  const flags = ["--conditions=@virtual-workspaces/source", "tools/bootstrap.mjs", "tools/test.mjs", "test", file];
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { cwd: root, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("root hooks", () => {
  it("let a clean test pass", () => {
    const { status, output } = run("clean");
    expect(output).to.contain("test: 1 passed, 0 failed");
    expect(status).to.equal(0);
  });

  it("fail the file that leaves a server listening, name it, and continue", () => {
    const { status, output } = run("leak");
    expect(output).to.match(/leak\.fixture\.ts left open: 1 TCPServerWrap/);
    expect(output).to.match(/Server \{"address":"127\.0\.0\.1"/);
    expect(output).to.contain("test: 2 passed, 1 failed");
    expect(status).to.equal(1);
  });

  it("fail the test that loses a rejection", () => {
    const { status, output } = run("rejection");
    expect(output).to.contain("unexpected unhandled rejection: Error: nobody awaits me");
    expect(output).to.contain("test: 1 passed, 1 failed");
    expect(status).to.equal(1);
  });

  it("fail the test that logs an error, unless it expects it", () => {
    const { status, output } = run("logged");
    expect(output).to.contain("unexpected console.error: something broke quietly");
    expect(output).to.contain("test: 1 passed, 1 failed");
    expect(status).to.equal(1);
  });

  it("end a process that does not exit by itself", () => {
    const { status, output } = run("stuck");
    expect(output).to.match(/the process does not end:\nactive: .*Timeout/);
    expect(status).to.equal(1);
  });
});
