// What can be wrong with a data folder: said in one plain line with the remedy, code 1, and nothing is damaged by it.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Dev, needsMounts } from "./support/dev.ts";
import { create, list, NOTES } from "./support/notes.ts";
import { hostedText } from "./support/views.ts";

const FLAGS = ["--port", "0", "--quiet", "--data-dir"];

describe("a data folder", function () {
  this.timeout(30_000);

  /** A folder with one note in it, served until the end of the block. */
  const start = (data = "data"): Promise<Dev> =>
    Dev.start({ files: { "note.ts": hostedText() }, flags: [...FLAGS, data] });
  /** Fails to start, in words, and code 1. */
  const refused = async (options: ConstructorParameters<typeof Dev>[0], why: RegExp): Promise<void> => {
    await using dev = new Dev(options);
    expect((await dev.ended).code, dev.text).to.equal(1);
    expect(dev.text)
      .to.match(why)
      .and.match(/^virtual-workspaces dev: /);
    expect(dev.text.trimEnd().split("\n"), "no stack").to.have.length(1);
  };

  it("that another process has is named with it, and is served on", async () => {
    await using dev = await start();
    await refused({ in: dev.folder.path, state: "other", flags: [...FLAGS, "data"] }, /data.*in use.*/);
    expect(await create(dev, "one")).to.equal(201);
    expect((await list(dev)).names).to.deep.equal(["one"]);
  });

  it("is for its owner's eyes", async () => {
    await using dev = await start();
    const data = join(dev.folder.path, "data");
    expect(statSync(data).mode & 0o777).to.equal(0o700);
    for (const name of readdirSync(data)) expect(statSync(join(data, name)).mode & 0o077, name).to.equal(0);
  });
});
