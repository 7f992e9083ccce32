// Managers of spaces that are processes: one of several, its successor after a crash, and interrupted work.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { Program } from "../../go/support/program.ts";
import { gone, idleIn, isRunning, ProcessSpaces } from "./support/processes.ts";

const FIXTURE = join(import.meta.dirname, "support/keeper.fixture.ts");

/** Starts a manager in a process of its own and waits until its space is ready. */
async function elsewhere(spaces: ProcessSpaces, keep: "keep" | "end"): Promise<Program> {
  const args = ["--conditions=@virtual-workspaces/source", FIXTURE, spaces.root, keep];
  const manager = new Program(localNode, args);
  await manager.until("a space that is ready", () => manager.lines.includes("ready"), 30_000);
  return manager;
}

describe("manager of spaces that are processes", function () {
  this.timeout(60_000);

  it("is replaced after a crash by one that adopts the running processes", async () => {
    await using spaces = new ProcessSpaces();
    await using manager = await elsewhere(spaces, "end");
    const pid = spaces.pid("shop");
    manager.signal("SIGKILL");
    await manager.ended;
    await using next = await spaces.open();
    const there = await next.get("shop");
    expect(there?.phase).to.equal("Ready");
    expect([spaces.pid("shop"), spaces.started]).to.deep.equal([pid, []]);
    // A process that its owner did not end is restarted.
    process.kill(pid, "SIGKILL");
    const fell = await next.until("shop", (space) => space?.message?.includes("is restarted") === true);
    expect(fell?.message).to.match(/^the process has ended /);
    expect((await next.ready("shop"))?.id).to.equal(there?.id);
    expect(spaces.started).to.have.length(1);
  });

  it("stops the processes with it or keeps them, as configured, however it ends", async () => {
    await using spaces = new ProcessSpaces();
    await using impatient = await elsewhere(spaces, "end");
    const pid = spaces.pid("shop");
    impatient.say("exit");
    expect((await impatient.ended).code).to.equal(3);
    await gone(pid);
    {
      await using next = await spaces.open({ keep: true });
      await next.ready("shop");
      await using beside = await spaces.open({ keep: false });
      await beside.ready("shop");
    }
    const kept = spaces.pid("shop");
    expect(isRunning(kept), "it goes on").to.equal(true);
    {
      await using last = await spaces.open({ keep: false });
      await last.ready("shop");
      expect(spaces.pid("shop")).to.equal(kept);
    }
    expect(isRunning(kept)).to.equal(false);
    expect(spaces.started).to.have.length(1);
    expect(spaces.has("shop", "process.json")).to.equal(false);
  });

  it("is one of several, of which none starts a second process, and all see the same spaces", async () => {
    await using spaces = new ProcessSpaces();
    const all = await Promise.all([spaces.open(), spaces.open(), spaces.open()]);
    const [first, second, third] = all;
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
    await Promise.all([first.create("one"), second.create("one"), third.create("two")]);
    const seen = await Promise.all(all.flatMap((one) => [one.ready("one"), one.ready("two")]));
    expect(new Set(seen.map((space) => space?.id)).size).to.equal(2);
    expect(spaces.started.toSorted()).to.deep.equal(["one", "two"].map((name) => spaces.path(name, "server")));
    // A manager without the lock leaves the end to the owner.
    await Promise.all(all.map((one) => one.delete("two")));
    await Promise.all(all.map((one) => one.until("two", (space) => space === undefined)));
    await first[Symbol.asyncDispose]();
    spaces.signal("one", "SIGKILL");
    await second[Symbol.asyncDispose]();
    await third.until("one", (space) => space?.phase !== "Ready");
    await third.ready("one");
    expect(spaces.started).to.have.length(3);
  });

  it("completes interrupted work and removes incomplete directories", async () => {
    await using spaces = new ProcessSpaces();
    {
      await using first = await spaces.open();
      await first.create("shop");
      await first.ready("shop");
    }
    const pid = spaces.pid("shop");
    // State of a manager that crashed after the start and before it recorded the PID.
    writeFileSync(spaces.path("shop", "process.json"), '{"starting":true}');
    {
      await using second = await spaces.open();
      expect((await second.ready("shop"))?.name).to.equal("shop");
      expect([spaces.pid("shop"), spaces.started.length]).to.deep.equal([pid, 1]);
    }
    for (const name of [".new-x", ".gone-x"]) mkdirSync(spaces.path(name, "server"), { recursive: true });
    writeFileSync(spaces.path("shop", "leaving"), "");
    await using third = await spaces.open();
    await third.until("shop", (space) => space === undefined);
    expect(isRunning(pid)).to.equal(false);
    for (const name of [".new-x", ".gone-x", "shop"]) expect(spaces.has(name), name).to.equal(false);
  });

  it("takes over the lock of an owner that has ended or never existed", async () => {
    await using spaces = new ProcessSpaces();
    mkdirSync(spaces.directory, { recursive: true });
    for (const text of ["", "{", "{}", '{"pid":1,"started":"never"}', `{"pid":${process.pid},"started":"before"}`]) {
      writeFileSync(spaces.path(".keeper"), text);
      await using provider = await spaces.open({
        command: idleIn,
      });
      await provider.create("shop");
      await provider.until("shop", () => spaces.has("shop", "process.json"));
      await provider.delete("shop");
      expect(spaces.has("shop")).to.equal(false);
    }
  });

  it("ends the process of a directory that a user removed", async () => {
    await using spaces = new ProcessSpaces();
    const provider = await spaces.open({ command: idleIn });
    await provider.create("shop");
    await provider.until("shop", () => spaces.has("shop", "process.json"));
    const pid = spaces.pid("shop");
    rmSync(spaces.path("shop"), { recursive: true });
    expect(await provider.list()).to.deep.equal([]);
    await gone(pid);
  });
});
