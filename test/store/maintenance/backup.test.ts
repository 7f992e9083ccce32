import { copyFile, lstat, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { backup, memoryStore, readBackup, restore, revisionAfter, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { run } from "../../../tools/run.mjs";
import { put, refused, thrown } from "../contract/subject.ts";
import { changed, contents, Folder, write } from "./support.ts";

describe("backup", () => {
  const folder = Folder.forEachTest();
  let store: Store;

  beforeEach(() => {
    store = memoryStore({ revision: 1 });
  });
  afterEach(() => store[Symbol.asyncDispose]());

  /** Returns the content of a backup by restoring it. */
  async function restored(file: string): Promise<string[]> {
    await using other = memoryStore({ revision: revisionAfter(await readBackup(file)) });
    await restore(file, other);
    return contents(other);
  }

  it("writes a header that humans can read", async () => {
    await write(store, put("a", "1"));
    const before = Date.now();
    const info = await backup(store, folder.file());
    expect(info).to.deep.include({ revision: await store.head(), engine: "memory", count: 1, bytes: 14 });
    expect(Date.parse(info.time)).to.be.within(before, Date.now());
    expect(await readBackup(folder.file())).to.deep.equal(info);
    const [first = ""] = (await readFile(folder.file(), "latin1")).split("\n");
    expect(first).to.have.length(1023);
    expect(JSON.parse(first)).to.deep.include({ virtualWorkspacesBackup: 1, ...info });
    expect(await folder.names()).to.deep.equal(["backup"]);
  });

  it("writes a file that only its owner can read", async function () {
    if (process.platform === "win32") this.skip();
    await backup(store, folder.file());
    expect((await stat(folder.file())).mode & 0o777).to.equal(0o600);
  });

  it("reports the number of keys after each page and each transaction", async () => {
    for (let index = 0; index < 1500; index++) await write(store, put(`k/${index}`, "x"));
    const written: number[] = [];
    const info = await backup(store, folder.file(), { onProgress: (keys) => written.push(keys) });
    expect(written.length).to.be.above(1);
    expect(written).to.deep.equal([...written].sort((a, b) => a - b));
    expect(written.at(-1)).to.equal(info.count);
    await using other = memoryStore({ revision: revisionAfter(info) });
    const read: number[] = [];
    await restore(folder.file(), other, { onProgress: (keys) => read.push(keys) });
    expect(read.length).to.be.above(5);
    expect(read.at(-1)).to.equal(info.count);
  });

  it("accepts an empty store", async () => {
    expect(await backup(store, folder.file())).to.deep.include({ count: 0, bytes: 0 });
    expect(await restored(folder.file())).to.deep.equal([]);
  });

  it("holds the entries of one revision during writes", async () => {
    for (let index = 0; index < 2000; index++) await write(store, put(`k/${index}`, "before"));
    const expected = await contents(store);
    let writing = true;
    let first = true;
    const busy = changed(store, {
      range: async (range, options) => {
        const result = await store.range(range, options);
        for (let count = 0; writing && count < 50; count++) await write(store, put(`k/${count * 40}`, "after"));
        if (first) await store.commit({ conditions: [], operations: [{ type: "delete", key: "k/999" }] });
        first = false;
        return result;
      },
    });
    const { revision, count } = await backup(busy, folder.file());
    writing = false;
    expect(count).to.equal(2000);
    expect(await contents(store, revision)).to.deep.equal(expected);
    expect(await contents(store)).to.not.deep.equal(expected);
    expect(await restored(folder.file())).to.deep.equal(expected);
  });

  it("reads little at a time, whatever the sizes", async () => {
    for (let index = 0; index < 40; index++)
      await write(store, put(`large/${index}`, Buffer.alloc(1024 * 1024, index)));
    for (let index = 0; index < 5000; index++) await write(store, put(`small/${index}`, "x"));
    let [largest, ranges] = [0, 0];
    const counted = changed(store, {
      range: async (range, options) => {
        const result = await store.range(range, options);
        largest = Math.max(
          largest,
          result.entries.reduce((sum, { value }) => sum + value.length, 0),
        );
        ranges++;
        return result;
      },
    });
    expect((await backup(counted, folder.file())).count).to.equal(5040);
    expect(largest).to.be.at.most(16 * 1024 * 1024);
    expect(ranges).to.be.at.most(50);
    expect((await readBackup(folder.file())).count).to.equal(5040);
  });

  it("starts again if compaction overtakes it", async () => {
    for (let index = 0; index < 100; index++) await write(store, put(`k/${index}`, "x"));
    let compactions = 3;
    const compacting = changed(store, {
      range: async (range, options) => {
        const result = await store.range(range, options);
        if (compactions-- > 0) {
          await write(store, put(`new/${compactions}`, "x"));
          await store.compact(await store.head());
        }
        return result;
      },
    });
    const { count, revision } = await backup(compacting, folder.file());
    expect(count).to.equal(103);
    expect(revision).to.equal(await store.head());
    expect(await restored(folder.file())).to.deep.equal(await contents(store));
    expect(await folder.names()).to.deep.equal(["backup"]);
  });

  it("fails if compaction overtakes it every time", async () => {
    for (let index = 0; index < 100; index++) await write(store, put(`k/${index}`, "x"));
    const compacting = changed(store, {
      range: async (range, options) => {
        const result = await store.range(range, options);
        await write(store, put("new", "x"));
        await store.compact(await store.head());
        return result;
      },
    });
    const error = await refused("Compacted", () => backup(compacting, folder.file()));
    expect(error.message).to.equal("compaction overtook the backup of memory: keep a longer history (age, revisions)");
    expect(await folder.names()).to.deep.equal([]);
  });

  it("replaces an older backup only when it is complete", async () => {
    await write(store, put("a", "1"));
    await backup(store, folder.file());
    const old = await readFile(folder.file());
    const reason = new Error("the store is gone");
    const failing = changed(store, {
      range: async () => {
        throw reason;
      },
    });
    expect(await thrown(() => backup(failing, folder.file()))).to.equal(reason);
    expect(await readFile(folder.file())).to.deep.equal(old);
    expect(await folder.names()).to.deep.equal(["backup"]);
    await write(store, put("a", "2"));
    await backup(store, folder.file());
    expect(await restored(folder.file())).to.deep.equal(["a=2"]);
  });

  it("leaves an unfinished file that is not accepted as a backup", async () => {
    for (let index = 0; index < 100; index++) await write(store, put(`k/${index}`, "x"));
    const names: string[] = [];
    const copying = changed(store, {
      range: async (range, options) => {
        const [name = expect.fail("there is no file")] = await folder.names();
        names.push(name);
        if (names.length > 1) await copyFile(folder.file(name), folder.file("partial"));
        return store.range(range, options);
      },
    });
    await backup(copying, folder.file());
    expect(names[0]).to.match(/^backup\.[0-9a-f-]{36}\.partial$/);
    const error = await refused("Damaged", () => readBackup(folder.file("partial")));
    expect(error.message).to.match(/is an unfinished backup: use another one$/);
  });

  it("replaces regular files only", async function () {
    if (process.platform === "win32") this.skip();
    expect(await run("mkfifo", [folder.file("pipe")])).to.include({ ok: true });
    await writeFile(folder.file("file"), "kept");
    await symlink("file", folder.file("link"));
    await symlink("none", folder.file("loose"));
    const before = await folder.names();
    for (const [name, why] of [
      ["pipe", "not a regular file: name another one"],
      ["link", "a link: name its target"],
      ["loose", "a link: name its target"],
    ] as const) {
      const { message } = await refused("Invalid", () => backup(store, folder.file(name)));
      expect(message).to.equal(`cannot write the backup ${folder.file(name)}: it is ${why}`);
    }
    expect((await lstat(folder.file("pipe"))).isFIFO()).to.equal(true);
    expect(await readFile(folder.file("link"), "utf8")).to.equal("kept");
    expect(await folder.names()).to.deep.equal(before);
  });

  it("is canceled by its signal, and leaves no file", async () => {
    const reason = new Error("given up");
    await write(store, put("a", "1"));
    expect(await thrown(() => backup(store, folder.file(), { signal: AbortSignal.abort(reason) }))).to.equal(reason);
    expect(await folder.names()).to.deep.equal([]);
  });

  it("names the remedy if the file is not writable", async () => {
    const nowhere = await refused("Invalid", () => backup(store, folder.file("none/backup")));
    expect(nowhere.message).to.match(/^cannot write the backup .*: its directory does not exist: create it$/);
    await mkdir(folder.file("folder"));
    const isFolder = await refused("Invalid", () => backup(store, folder.file("folder")));
    expect(isFolder.message).to.match(/: it is a directory: name a file$/);
    expect(await folder.names()).to.deep.equal(["folder"]);
  });
});
