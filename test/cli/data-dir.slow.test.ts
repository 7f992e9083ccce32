// `dev --data-dir`: acknowledged writes survive a reload, a restart and a crash. Only one process at a time opens the folder.
import { join } from "node:path";
import { expect } from "chai";
import { Dev } from "./support/dev.ts";
import { create, list, NOTES, Writers } from "./support/notes.ts";
import { hostedText } from "./support/views.ts";

const FLAGS = ["--port", "0", "--quiet", "--data-dir", "data"];

describe("virtual-workspaces dev --data-dir", function () {
  this.timeout(60_000);

  const start = (): Promise<Dev> => Dev.start({ files: { "note.ts": hostedText() }, flags: FLAGS });
  const reloaded = (dev: Dev, times: number): Promise<void> => dev.until(/^Reloaded in/m, times);
  /** Starts the command again with the same folder. */
  const again = (dev: Dev): Promise<Dev> => Dev.start({ in: dev.folder.path, flags: FLAGS });
  const watched = async (dev: Dev, after: string): Promise<string[]> => {
    const { body } = await dev.get(`${NOTES}?watch=true&resourceVersion=${after}&timeoutSeconds=1`);
    const events = body
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; object: Named });
    return events.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.code}`);
  };

  it("prints where objects are stored, keeps them over a restart, and continues a watch where it ended", async () => {
    await using dev = await start();
    expect(dev.text).to.include(`keep them in lmdb at ${join(dev.folder.path, "data")}.`);
    expect(await create(dev, "one")).to.equal(201);
    const { version } = await list(dev);
    expect(await create(dev, "two")).to.equal(201);
    expect((await dev.end("SIGINT")).code).to.equal(0);
    await using heir = await again(dev);
    expect((await list(heir)).names).to.deep.equal(["one", "two"]);
    expect(await watched(heir, version)).to.deep.equal(["ADDED two"]);
  });

  it("reloads without losing or rejecting a write", async () => {
    await using dev = await start();
    await using writers = new Writers(dev);
    for (const times of [1, 2, 3]) {
      await writers.more(5);
      dev.save("note.ts", hostedText());
      await reloaded(dev, times);
    }
    await writers.more(5);
    await writers.stop();
    expect([...writers.codes.keys()]).to.deep.equal([201]);
    expect((await list(dev)).names).to.have.members(writers.acknowledged);
  });

  it("serves the previous modules when a saved one cannot be served, and loses no object", async () => {
    await using dev = await start();
    await using writers = new Writers(dev);
    await writers.more(5);
    for (const more of ["setup: () => { throw new Error('no set-up'); },", "path: 'wrong',"]) {
      dev.save("note.ts", hostedText({ more }));
      await dev.until(/cannot serve the changed file/, more.startsWith("setup") ? 1 : 2);
      await writers.more(5);
    }
    dev.save("note.ts", hostedText());
    await reloaded(dev, 1);
    await writers.more(5);
    await writers.stop();
    expect([...writers.codes.keys()]).to.deep.equal([201]);
    expect((await list(dev)).names).to.have.members(writers.acknowledged);
  });

  it("accepts saves during a reload", async () => {
    await using dev = await start();
    await using writers = new Writers(dev);
    for (let save = 0; save < 4; save++) {
      dev.save("note.ts", hostedText({ first: `const save = ${save};` }));
      await writers.more(1);
    }
    dev.save("note.ts", hostedText({ first: 'console.log("the last");' }));
    await dev.until(/^the last\n[\s\S]*^Reloaded in/m);
    await writers.more(5);
    await writers.stop();
    expect([...writers.codes.keys()]).to.deep.equal([201]);
    expect((await list(dev)).names).to.have.members(writers.acknowledged);
  });

  it("keeps acknowledged writes when the serving process is killed, and serves them after the next save", async () => {
    await using dev = await start();
    await using writers = new Writers(dev);
    await writers.more(20);
    const [worker = 0] = await dev.children();
    process.kill(worker, "SIGKILL");
    await dev.until(/ended unexpectedly \(SIGKILL\): save a file to start it again/);
    dev.save("note.ts", hostedText());
    await reloaded(dev, 1);
    await writers.more(5);
    await writers.stop();
    // A write may succeed although its answer is lost.
    expect((await list(dev)).names).to.include.members(writers.acknowledged);
  });

  it("keeps acknowledged writes when all processes are killed, and starts at once", async () => {
    await using dev = await start();
    await using writers = new Writers(dev);
    await writers.more(20);
    const stopped = writers.stop();
    expect((await dev.end("SIGKILL")).code).to.equal(null);
    await stopped;
    await using heir = await again(dev);
    expect((await list(heir)).names).to.include.members(writers.acknowledged);
    expect(await create(heir, "after")).to.equal(201);
  });
});

interface Named {
  readonly metadata?: { readonly name: string };
  readonly code?: number;
}
