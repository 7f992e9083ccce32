// A module's function of the host: the server calls it with the store that the flags select, and reports its errors.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { memoryStore } from "@virtual-workspaces/store";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Failure } from "../../packages/cli/src/process/failure.ts";
import { viewsOf } from "../../packages/cli/src/views/load.ts";
import { tree } from "../_setup/tree.ts";
import { cli, Dev } from "./support/dev.ts";
import { create, list } from "./support/notes.ts";
import { hostedText, viewText } from "./support/views.ts";

describe("virtual-workspaces dev with functions of the host", function () {
  this.timeout(30_000);

  const saved = (dev: Dev, times: number): Promise<void> => dev.until(/^Reloaded in/m, times);

  it("gives them a store in memory, a new one on each reload, and prints that", async () => {
    const first = 'console.log("called with", store.name, "at", await store.head());';
    await using dev = await Dev.start({
      files: { "note.ts": hostedText({ first }), "task.ts": viewText({ name: "task" }) },
    });
    expect(dev.text).to.match(
      /^Views with objects in the server's store \(note\) keep them in memory: lost on reload and restart, unless --data-dir names a folder\. A collection\(\) without a store is always in memory\.$/m,
    );
    expect(dev.lines(/called with/)).to.have.length(1);
    expect(dev.lines(/^ {2}(note|task) /)).to.have.length(2);
    expect(await create(dev, "one")).to.equal(201);
    expect((await list(dev)).names).to.deep.equal(["one"]);
    dev.save("note.ts", hostedText({ first }));
    await saved(dev, 1);
    expect((await list(dev)).names).to.deep.equal([]);
    expect(dev.lines(/called with memory at \d+/)).to.have.length(2);
  });

  it("does not mention the store if no module needs one", async () => {
    const without = viewText({ name: "other" }).replace("export default ", "const view = ");
    await using dev = await Dev.start({
      files: { "task.ts": viewText({ name: "task" }), "other.ts": `${without}\nexport default () => view;` },
    });
    expect(dev.lines(/^ {2}(other|task) /)).to.have.length(2);
    expect(dev.text).not.to.match(/server's store|--data-dir/);
  });

  it("warns that --data-dir has no effect until a saved module uses the store", async () => {
    const flags = ["--port=0", "--data-dir=data"];
    await using dev = await Dev.start({ files: { "note.ts": viewText() }, flags });
    const warning =
      "Warning: --data-dir has no effect: no view keeps objects in the server's store. A collection() without a store is always in memory.";
    expect(dev.lines(/--data-dir/)).to.deep.equal([warning]);
    const data = join(dev.folder.path, "data");
    expect(existsSync(data)).to.equal(false);
    dev.save("note.ts", hostedText());
    await saved(dev, 1);
    await dev.until(/^Views with objects in the server's store \(note\) keep them in lmdb at .*data\./m);
    expect(existsSync(data)).to.equal(true);
  });

  it("rejects a function that returns no view, and shows the stack of one that throws", async () => {
    using folder = tree({
      "nothing.ts": "export default () => undefined;",
      "text.ts": "export default () => { throw 'no luck'; };",
      "undefined.ts": "export default () => Promise.reject();",
      "class.ts": "export default class {}",
      "throws.ts": "export default async (host) => { throw new Error('no luck with ' + host.store.name); };",
    });
    for (const [file, why] of [
      ["nothing.ts", /nothing\.ts: the function in its default export did not return a view\. Write `export default/],
      ["text.ts", /text\.ts: its default export threw 'no luck'\. Throw an Error/],
      ["undefined.ts", /undefined\.ts: its default export threw undefined\. Throw an Error/],
      ["class.ts", /class\.ts: its default export is not a view\. Write `export default/],
      ["throws.ts", /Error: no luck with memory\n {4}at .*throws\.ts:1:\d+/],
    ] as const) {
      const { code, stderr } = await cli("dev", join(folder.path, file), "--dir", join(folder.path, "state"));
      expect(stderr)
        .to.match(why)
        .and.not.match(/node:internal|packages\/cli/);
      expect(code).to.equal(1);
    }
  });

  it("gives up on a function that never returns, and names its file", async () => {
    await using store = memoryStore();
    await using upstream = new Upstream({ url: "http://127.0.0.1:9" });
    const content = () => new Promise(() => undefined);
    const error = await viewsOf(
      [{ path: "slow.ts", content }],
      { store, upstream, identity: "none" },
      { patience: 10 },
    ).catch((error: unknown) => error);
    expect(error)
      .to.be.instanceOf(Failure)
      .with.property(
        "message",
        "slow.ts: the function in its default export has not returned within 0.01 s. Check what it awaits.",
      );
  });

  it("keeps serving the previous modules when a saved one throws", async () => {
    await using dev = await Dev.start({ files: { "note.ts": hostedText() } });
    expect(await create(dev, "one")).to.equal(201);
    dev.save("note.ts", hostedText({ first: 'throw new Error("no luck");' }));
    await dev.until(/cannot serve the changed file .*:\nError: no luck/);
    expect((await list(dev)).names).to.deep.equal(["one"]);
  });
});
