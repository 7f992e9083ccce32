// Who looks after spaces that are processes: one of several managers, the next when that is killed, and what it had begun.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { Program } from "../../go/support/program.ts";
import { gone, idleIn, isRunning, ProcessSpaces } from "./support/processes.ts";

const FIXTURE = join(import.meta.dirname, "support/keeper.fixture.ts");

/** A manager in a process of its own, whose space is ready. */
async function elsewhere(spaces: ProcessSpaces, keep: "keep" | "end"): Promise<Program> {
  const args = ["--conditions=@virtual-workspaces/source", FIXTURE, spaces.directory, keep];
  const manager = new Program(localNode, args);
  await manager.until("a space that is ready", () => manager.lines.includes("ready"), 30_000);
  return manager;
}

describe("who looks after spaces that are processes", function () {
  this.timeout(60_000);

  it("is followed by another that finds them as they are, when it is killed", async () => {
    await using spaces = new ProcessSpaces();
    await using manager = await elsewhere(spaces, "end");
    const pid = spaces.pid("shop");
    manager.signal("SIGKILL");
    await manager.ended;
    await using next = await spaces.open();
    const there = await next.get("shop");
    expect(there?.phase).to.equal("Ready");
    expect([spaces.pid("shop"), spaces.started]).to.deep.equal([pid, []]);
    // Ended by nobody that it belongs to, it is started again.
    process.kill(pid, "SIGKILL");
    const fell = await next.until("shop", (space) => space?.message?.includes("started again") === true);
    expect(fell?.message).to.match(/^the process has ended /);
    expect((await next.ready("shop"))?.id).to.equal(there?.id);
    expect(spaces.started).to.have.length(1);
  });

  it("has them end with it, or not, as it is told, however it ends", async () => {
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

  it("is one of several, none of whom starts a second, and all see the same", async () => {
    await using spaces = new ProcessSpaces();
    const all = await Promise.all([spaces.open(), spaces.open(), spaces.open()]);
    const [first, second, third] = all;
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
    await Promise.all([first.create("one"), second.create("one"), third.create("two")]);
    const seen = await Promise.all(all.flatMap((one) => [one.ready("one"), one.ready("two")]));
    expect(new Set(seen.map((space) => space?.id)).size).to.equal(2);
    expect(spaces.started.toSorted()).to.deep.equal(["one", "two"].map((name) => spaces.path(name, "server")));
    // Whoever does not keep them has them end.
    await Promise.all(all.map((one) => one.delete("two")));
    await Promise.all(all.map((one) => one.until("two", (space) => space === undefined)));
    await first[Symbol.asyncDispose]();
    spaces.signal("one", "SIGKILL");
    await second[Symbol.asyncDispose]();
    await third.until("one", (space) => space?.phase !== "Ready");
    await third.ready("one");
    expect(spaces.started).to.have.length(3);
  });

  it("brings to the end what was begun, and takes away what was half made", async () => {
    await using spaces = new ProcessSpaces();
    {
      await using first = await spaces.open();
      await first.create("shop");
      await first.ready("shop");
    }
    const pid = spaces.pid("shop");
    // As it is when a manager is killed that has started it, and not noted yet which process it is.
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

  it("does without a holder of the folder who is no more, or never was", async () => {
    await using spaces = new ProcessSpaces();
    mkdirSync(spaces.directory);
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

  it("ends the process of a folder that somebody has deleted", async () => {
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
