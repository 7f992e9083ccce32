// Shutdown: it takes less than a second, ends open watches as HTTP requires, and leaves no process behind.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "../_support/until.ts";
import { Dev } from "./support/dev.ts";
import { viewText } from "./support/views.ts";

const NOTES = "/services/note/clusters/root/apis/test.dev/v1/notes";
/** Keeps a process from ending. */
const FOREVER = "new Promise(() => setInterval(() => undefined, 1000))";

describe("virtual-workspaces dev ends", function () {
  this.timeout(30_000);

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`on ${signal}: code 0, within a second, watches whole, their ends logged, the lock released`, async () => {
      await using dev = await Dev.start({ files: { "note.ts": viewText() } });
      const children = await dev.children();
      expect(children).to.have.length(1);
      const watches = [1, 2, 3].map(() => dev.get(`${NOTES}?watch=true`));
      await dev.until(/begins$/m, 3);
      const { code, took } = await dev.end(signal);
      expect(code).to.equal(0);
      expect(took).to.be.below(1000);
      for (const { body } of await Promise.all(watches)) expect(body.trimEnd()).to.match(/^\{"type":"ADDED".*\}$/);
      expect(dev.lines(/ends after/)).to.have.length(3);
      expect(existsSync(join(dev.state, "lock"))).to.equal(false);
      await allGone(children);
    });
  }

  it("on Ctrl-C in a terminal, which signals every process at once", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() }, terminal: true });
    const watch = dev.get(`${NOTES}?watch=true`);
    await dev.until(/begins$/m);
    const { code, took } = await dev.end("SIGINT");
    expect(code).to.equal(0);
    expect(took).to.be.below(1000);
    expect((await watch).body.trimEnd()).to.match(/^\{"type":"ADDED".*\}$/);
    expect(dev.text).not.to.match(/ended unexpectedly/);
  });

  it("within a second although a view does not release its resources", async () => {
    const setup = `setup: () => ({ [Symbol.asyncDispose]: () => ${FOREVER} }),`;
    await using dev = await Dev.start({ files: { "note.ts": viewText({ more: setup }) } });
    const { code, took } = await dev.end("SIGINT");
    expect(code).to.equal(0);
    expect(took).to.be.below(1000);
  });

  it("before it begins to serve", async () => {
    await using dev = new Dev({ files: { "slow.ts": `console.log("loading"); await ${FOREVER};` } });
    await dev.until(/^loading$/m);
    const children = await dev.children();
    const { code, took } = await dev.end("SIGINT");
    expect(code).to.equal(0);
    expect(took).to.be.below(1000);
    await allGone(children);
  });

  it("with all its child processes when it is killed", async () => {
    const busy = "setup: () => setInterval(() => undefined, 1000),";
    await using dev = await Dev.start({ files: { "note.ts": viewText({ more: busy }) } });
    const children = await dev.children();
    expect(children).to.have.length(1);
    await dev.end("SIGKILL");
    await allGone(children);
  });
});

/** Waits until these processes have ended; the timeout of the test applies. */
async function allGone(pids: readonly number[]): Promise<void> {
  await until(() => !pids.some(isAlive));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process has ended, too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
