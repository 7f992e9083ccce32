// Runs the e2e tests for kubectl with every version between the oldest and the newest.
import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { kubectls } from "./support/kubectls.ts";

const FILES = ["kubectl", "kubectl-write", "subresources", "auth", "audit", "kubectl-oidc"];

describe("kubectl between the oldest and the newest version", function () {
  this.timeout(240_000);

  it("passes the e2e tests of every kubectl", function () {
    const env = { ...process.env, KUBECTLS: "between" };
    // `KUBECTLS=ends` skips them to save time.
    if (process.env["KUBECTLS"] === "ends" || between(env) === 0) this.skip();
    const files = FILES.map((name) => `test/e2e/${name}.test.ts`);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["tools/test.mjs", "test", "--parallel", "--jobs=2", ...files],
      {
        cwd: root,
        encoding: "utf8",
        env,
      },
    );
    expect(status, `${stdout}\n${stderr}`).to.equal(0);
    expect(Number(/(\d+) passing/.exec(stdout)?.[1]), stdout).to.be.above(10 * between(env));
  });
});

function between(env: NodeJS.ProcessEnv): number {
  const before = process.env["KUBECTLS"];
  process.env["KUBECTLS"] = env["KUBECTLS"];
  try {
    return kubectls().length;
  } finally {
    if (before === undefined) delete process.env["KUBECTLS"];
    else process.env["KUBECTLS"] = before;
  }
}
