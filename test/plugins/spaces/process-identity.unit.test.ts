// Identity of a process with a given PID, which differs from later processes with the same PID.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { identityByPs } from "../../../packages/plugins/spaces/src/providers/processes/process-identity.ts";
import { localNode } from "../../../tools/install.mjs";

describe("identity of a process", function () {
  this.timeout(60_000);

  it("differs from other processes with the same PID, also by ps without /proc", async function () {
    if (!(process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, "ps")))) this.skip();
    const child = spawn(localNode, ["-e", "setInterval(() => undefined, 1e6)"]);
    await once(child, "spawn");
    const { pid = 0 } = child;
    const [first, again, own] = await Promise.all([pid, pid, process.pid].map((one) => identityByPs(one)));
    expect(first).to.deep.equal({ pid, started: first?.started });
    expect(first?.started).to.match(/ \d\d:\d\d:\d\d \d{4}$/);
    expect(again).to.deep.equal(first);
    expect(own?.started).not.to.equal(first?.started);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await identityByPs(pid)).to.equal(undefined);
  });
});
