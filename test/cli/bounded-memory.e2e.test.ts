// The front proxy starts itself again in the same process with bounds of memory, unless the user has given some.
import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { localNode } from "../../tools/install.mjs";

const PROGRAM = fileURLToPath(new URL("support/bounded.ts", import.meta.url));
const FLAG = "--max-semi-space-size=8";

interface Shown {
  readonly execArgv: readonly string[];
  readonly args: readonly string[];
  readonly arenas?: string;
  readonly pid: number;
}

describe("bounds of memory", () => {
  it("are given to V8 and glibc in the same process, which keeps its own options and arguments", async () => {
    const { shown, pid } = await run(["--no-warnings"]);
    expect(shown).to.deep.equal({ execArgv: [FLAG, "--no-warnings"], args: ["a", "b c"], arenas: "2", pid });
  });

  it("are those of the user, if given as an option of Node.js", async () => {
    expect((await run(["--max_semi_space_size=32"])).shown.execArgv).to.deep.equal(["--max_semi_space_size=32"]);
    const { shown } = await run([], { NODE_OPTIONS: "--max-semi-space-size=32" });
    expect(shown.execArgv).to.deep.equal([]);
    expect(shown.arenas).to.equal(undefined);
  });

  it("keep the user's variables of glibc", async () => {
    expect((await run([], { MALLOC_ARENA_MAX: "8" })).shown.arenas).to.equal("8");
  });

  it("are not given to a child process with a channel, which would be lost", async () => {
    const child = fork(PROGRAM, { execArgv: [], stdio: ["ignore", "pipe", "inherit", "ipc"] });
    const { stdout } = child;
    assert.ok(stdout);
    expect((JSON.parse(await text(stdout)) as Shown).execArgv).to.deep.equal([]);
  });
});

/** Runs the program with options of Node.js. */
async function run(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ shown: Shown; pid: number }> {
  const own = { ...process.env, NODE_OPTIONS: "", ...env };
  const child = spawn(localNode, [...options, PROGRAM, "a", "b c"], { env: own, stdio: ["ignore", "pipe", "inherit"] });
  return { shown: JSON.parse(await text(child.stdout)) as Shown, pid: child.pid ?? 0 };
}
