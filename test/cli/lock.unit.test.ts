// One process at a time holds a state folder: the error names the holder, and the lock of a dead process is taken over.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { acquire } from "../../packages/cli/src/process/lock.ts";
import { localNode } from "../../tools/install.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { until } from "../_support/until.ts";

describe("the lock of a state folder", () => {
  let folder: Tree;
  beforeEach(() => {
    folder = tree({});
  });
  afterEach(() => folder[Symbol.dispose]());
  const file = (): string => join(folder.path, "lock");

  /** Returns the ID of a process that has ended. */
  async function deadPid(): Promise<number> {
    const child = spawn(localNode, ["--version"], { stdio: "ignore" });
    await once(child, "close");
    return child.pid ?? 0;
  }

  it("is held until it is disposed, and leaves nothing else behind", () => {
    {
      using lock = acquire(folder.path);
      lock.serves("https://127.0.0.1:6444");
      expect(JSON.parse(readFileSync(file(), "utf8"))).to.include({ pid: process.pid, url: "https://127.0.0.1:6444" });
      expect(readdirSync(folder.path)).to.deep.equal(["lock"]);
    }
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it("names its holder, the URL, the start time and the remedies", () => {
    using lock = acquire(folder.path);
    expect(() => acquire(folder.path)).to.throw(/is in use by process \d+, which serves since 20\d\d-/);
    lock.serves("https://127.0.0.1:6444");
    expect(() => acquire(folder.path)).to.throw(/serves at https:\/\/127\.0\.0\.1:6444 since .*--dir .*remove .*lock/);
    expect(existsSync(file())).to.equal(true);
  });

  it("of an earlier process with the same ID is taken over: in a container, IDs repeat at every start", () => {
    const since = new Date(performance.timeOrigin - 1000).toISOString();
    writeFileSync(file(), JSON.stringify({ pid: process.pid, since }));
    using _lock = acquire(folder.path, "--root-directory");
    expect(() => acquire(folder.path, "--root-directory")).to.throw(/use another folder with --root-directory/);
  });

  it("of a process that has ended, and an unreadable one, is taken over", async () => {
    for (const stale of [JSON.stringify({ pid: await deadPid(), since: "then" }), "", "{", "null", '{"since":1}']) {
      writeFileSync(file(), stale);
      using _lock = acquire(folder.path);
      expect(JSON.parse(readFileSync(file(), "utf8"))).to.include({ pid: process.pid });
      expect(readdirSync(folder.path)).to.deep.equal(["lock"]);
    }
  });

  it("of a zombie process is taken over", async function () {
    if (process.platform !== "linux") this.skip();
    // The child ends once its parent has become a program that does not wait for children.
    const child = `while [ "$(cat /proc/$PPID/comm)" != sleep ]; do :; done`;
    const parent = spawn("sh", ["-c", 'sh -c "$1" & echo $!; exec sleep 1000', "sh", child]);
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    await until(() => /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
    writeFileSync(file(), JSON.stringify({ pid, since: "then" }));
    using _lock = acquire(folder.path);
    expect(JSON.parse(readFileSync(file(), "utf8"))).to.include({ pid: process.pid });
    parent.kill("SIGKILL");
    await once(parent, "close");
  });

  it("is not removed when it belongs to another process", () => {
    const lock = acquire(folder.path);
    writeFileSync(file(), JSON.stringify({ pid: process.ppid, since: "now" }));
    lock[Symbol.dispose]();
    expect(existsSync(file())).to.equal(true);
  });
});
