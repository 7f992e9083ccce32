import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { until } from "../_support/until.ts";

const flag = "--conditions=@virtual-workspaces/source";
const program = `
process.on("SIGINT", () => process.exit(7));
if (process.argv[2] === "wait") setInterval(() => {}, 1000);
console.log(JSON.stringify({ args: process.argv.slice(2), pid: process.pid, source: process.execArgv }));
`;

describe("bootstrap", () => {
  it("runs the entry in its own process when everything is in place", async () => {
    using folder = tree({ "entry.mjs": program });
    const child = spawn(process.execPath, [flag, "tools/bootstrap.mjs", `${folder.path}/entry.mjs`, "a", "b"], {
      cwd: root,
    });
    const [output] = await once(child.stdout.setEncoding("utf8"), "data");
    await once(child, "close");
    expect(JSON.parse(String(output))).to.deep.equal({ args: ["a", "b"], pid: child.pid, source: [flag] });
  });

  it("starts a process with the right flags, and exits with the entry's exit code", () => {
    using folder = tree({ "entry.mjs": `${program}process.exitCode = 3;` });
    const { status, stdout } = spawnSync(process.execPath, ["tools/bootstrap.mjs", `${folder.path}/entry.mjs`], {
      cwd: root,
      encoding: "utf8",
    });
    expect(JSON.parse(stdout).source).to.deep.equal([flag]);
    expect(status).to.equal(3);
  });

  for (const [signal, code, ended] of [
    ["SIGINT", 7, null],
    ["SIGTERM", null, "SIGTERM"],
  ] as const) {
    it(`forwards ${signal}, ends like the entry and leaves no orphan`, async () => {
      using folder = tree({ "entry.mjs": program });
      const child = spawn(process.execPath, ["tools/bootstrap.mjs", `${folder.path}/entry.mjs`, "wait"], { cwd: root });
      const [output] = await once(child.stdout.setEncoding("utf8"), "data");
      const { pid } = JSON.parse(String(output));
      expect(pid).not.to.equal(child.pid);
      child.kill(signal);
      expect(await once(child, "close")).to.deep.equal([code, ended]);
      expect(() => process.kill(pid, 0)).to.throw(/ESRCH/);
    });
  }

  it("ends the entry when it is killed itself", async () => {
    using folder = tree({ "entry.mjs": program });
    const child = spawn(process.execPath, ["tools/bootstrap.mjs", `${folder.path}/entry.mjs`, "wait"], { cwd: root });
    const [output] = await once(child.stdout.setEncoding("utf8"), "data");
    const { pid } = JSON.parse(String(output));
    child.kill("SIGKILL");
    await once(child, "exit");
    try {
      await until(() => !isRunning(pid), { what: "the end of the entry", within: 10_000 });
    } finally {
      if (isRunning(pid)) process.kill(pid, "SIGKILL");
    }
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
