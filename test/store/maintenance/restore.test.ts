import { readFile, writeFile } from "node:fs/promises";
import {
  backup,
  checkRestored,
  memoryStore,
  readBackup,
  restore,
  revisionAfter,
  type Store,
  StoreError,
} from "@virtual-workspaces/store";
import { expect } from "chai";
import { Reader } from "../contract/reader.ts";
import { everything, put, refused } from "../contract/subject.ts";
import { changed, contents, Folder, write } from "./support.ts";

describe("restore", () => {
  const folder = Folder.forEachTest();
  const stores: Store[] = [];

  const open = (revision = 1): Store => {
    const store = memoryStore({ revision });
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
  });

  /** Creates a backup of a few keys. @returns a new store for it */
  async function backedUp(): Promise<Store> {
    const store = open();
    for (const key of ["a", "b/\uFFFF", "b/\u{10000}"]) await write(store, put(key, `value of ${key}`));
    await write(store, put("bytes", Buffer.from([0, 255, 254])));
    await write(store, put("none", ""));
    return open(revisionAfter(await backup(store, folder.file())));
  }

  it("restores all keys and values", async () => {
    const store = open();
    const values = new Map<string, Buffer>();
    for (let index = 0; index < 1000; index++)
      values.set(`k/${index}`, Buffer.from(Array.from({ length: index % 300 }, (_, at) => (at * index) % 256)));
    values.set("large", Buffer.alloc(8 * 1024 * 1024, "large"));
    values.set("\u{10FFFF}".repeat(256), Buffer.from("the last key there can be"));
    for (const [key, value] of values) await write(store, put(key, value));
    const info = await backup(store, folder.file());
    const other = open(revisionAfter(info));
    expect(await restore(folder.file(), other)).to.deep.equal(info);
    const [before, after] = [await store.range(everything), await other.range(everything)];
    expect(after.entries.map(({ key }) => key)).to.deep.equal(before.entries.map(({ key }) => key));
    expect(after.entries.length + 1, "the range of the tests ends before the last key").to.equal(values.size);
    for (const [key, value] of values) expect((await other.get(key))?.value.equals(value), key).to.equal(true);
    await checkRestored(other);
  });

  it("continues above every revision that was used", async () => {
    const store = open();
    await write(store, put("a", "1"));
    const info = await backup(store, folder.file());
    for (let count = 0; count < 10; count++) await write(store, put("a", `lost ${count}`));
    const lost = await store.head();
    const other = open(revisionAfter(info));
    await restore(folder.file(), other);
    const head = await other.head();
    expect(head).to.be.above(lost + 1000);
    for (const revision of [info.revision, lost, revisionAfter(info), head - 1])
      await refused("Compacted", () => other.range(everything, { revision }));
    for (const after of [info.revision, lost, head - 1])
      await refused("Compacted", () => new Reader(other.watch(everything, { after })).next());
    expect(await contents(other, head)).to.deep.equal(["a=1"]);
    expect((await other.get("a"))?.modRevision).to.be.above(lost);
  });

  it("restores leases with their remaining time", async () => {
    const store = open();
    const [long, short] = [await store.grant(1000), await store.grant(1)];
    for (const key of ["a", "c"]) await write(store, put(key, "long", long));
    await write(store, put("b", "short", short));
    await write(store, put("d", "free"));
    const late = changed(store, { remaining: async (id) => (id === long.id ? 123.5 : store.remaining(id)) });
    const other = open(revisionAfter(await backup(late, folder.file())));
    const reader = new Reader(other.watch(everything, { after: (await other.head()) + 3 }));
    await restore(folder.file(), other);
    const leases = (await other.range(everything)).entries.map(({ lease }) => lease);
    expect(leases[0]).to.equal(leases[2]);
    expect(leases[3]).to.equal(undefined);
    expect(await other.remaining(leases[0] ?? "")).to.be.within(120, 124);
    const { events } = await reader.next();
    expect(events.map(({ key, entry }) => [key, entry])).to.deep.equal([["b", undefined]]);
    expect(await contents(other)).to.deep.equal(["a=long", "c=long", "d=free"]);
    await reader.leave();
  });

  it("grants a lease again that expires before all of its keys are restored", async () => {
    const store = open();
    const lease = await store.grant(60);
    for (let index = 0; index < 300; index++) await write(store, put(`k/${index}`, "x", lease));
    const other = open(revisionAfter(await backup(store, folder.file())));
    let ended = false;
    const ending = changed(other, {
      commit: async (transaction) => {
        const outcome = await other.commit(transaction);
        const [first] = transaction.operations;
        if (!ended && first?.type === "put" && first.lease !== undefined) {
          ended = true;
          await other.revoke(first.lease);
        }
        return outcome;
      },
    });
    await restore(folder.file(), ending);
    expect(await contents(other), "the first transaction's are gone").to.have.length(300 - 128);
    await checkRestored(other);
  });

  it("requires an empty store", async () => {
    const other = await backedUp();
    await write(other, put("mine", "1"));
    const error = await refused("Invalid", () => restore(folder.file(), other));
    expect(error.message).to.equal("memory is not empty: restore the backup into a new store");
    expect(await contents(other)).to.deep.equal(["mine=1"]);
  });

  it("requires a store that starts above the lost one", async () => {
    await backedUp();
    const other = open();
    const error = await refused("Invalid", () => restore(folder.file(), other));
    const { revision } = await readBackup(folder.file());
    expect(error.message).to.match(/^memory is at revision 1, but must be at \d+ for clients to notice/);
    expect(error.message).to.include(`open the new store with { revision: ${revision + 1_000_000_000} }`);
    expect(error.message).to.include("etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted");
    expect(await contents(other)).to.deep.equal([]);
  });

  it("writes nothing of a backup that is truncated or modified anywhere", async () => {
    const other = await backedUp();
    const whole = await readFile(folder.file());
    const head = await other.head();
    const bad = folder.file("bad");
    for (let size = 0; size < whole.length; size += size < 1020 ? 51 : 1) {
      await writeFile(bad, whole.subarray(0, size));
      await refused("Damaged", () => restore(bad, other));
    }
    for (let at = 0; at < whole.length; at++) {
      const changedByte = Buffer.from(whole);
      changedByte[at] = (whole[at] ?? 0) ^ 1;
      const isPadding = at < 1024 && whole[at] !== 0x22 && whole.subarray(at, 1023).every((byte) => byte === 0x20);
      if (isPadding) continue;
      await writeFile(bad, changedByte);
      const error = await restore(bad, other).then(
        () => expect.fail(`byte ${at} does not matter`),
        (thrown: unknown) => thrown as StoreError,
      );
      expect(error.code, `byte ${at}: ${error.message}`).to.be.oneOf(["Damaged", "NewerFormat"]);
    }
    await writeFile(bad, Buffer.concat([whole, Buffer.from("x")]));
    await refused("Damaged", () => restore(bad, other));
    expect(await other.head()).to.equal(head);
    expect(await contents(other)).to.deep.equal([]);
  }).timeout(30_000);

  it("describes the fault of the file", async () => {
    const other = await backedUp();
    const whole = await readFile(folder.file());
    const bad = folder.file("bad");
    const said = async (bytes: Buffer | string): Promise<string> => {
      await writeFile(bad, bytes);
      const error = await restore(bad, other).catch((thrown: unknown) => thrown as StoreError);
      if (!(error instanceof StoreError)) return expect.fail("it was restored");
      return `${error.code}: ${error.message.replaceAll(bad, "FILE")}`;
    };
    const damaged = "Damaged: the backup FILE is damaged:";
    const nothing = "use another backup; nothing was restored";
    expect(await said("")).to.equal("Damaged: FILE is not a backup of a store: use another file");
    expect(await said("PK\u0003\u0004".repeat(1000))).to.equal(
      "Damaged: FILE is not a backup of a store: use another file",
    );
    expect(await said(Buffer.alloc(5000))).to.equal("Damaged: FILE is an unfinished backup: use another one");
    expect(await said(whole.subarray(0, 100))).to.equal(`${damaged} its header is unreadable: ${nothing}`);
    expect(await said(whole.subarray(0, 1100))).to.equal(`${damaged} it has 1100 of ${whole.length} bytes: ${nothing}`);
    const flipped = Buffer.from(whole);
    flipped[1030] = 1 ^ (flipped[1030] ?? 0);
    expect(await said(flipped)).to.equal(`${damaged} its checksum is wrong: ${nothing}`);
    const newer = Buffer.from(whole.toString("latin1").replace('Backup":1', 'Backup":2'), "latin1");
    expect(await said(newer)).to.equal(
      "NewerFormat: FILE has the format 2; this version reads formats up to 1: " +
        "restore it with the version that wrote it, or a newer one",
    );
    const missing = await refused("Invalid", () => restore(folder.file("none"), other));
    expect(missing.message).to.match(/^the backup .* does not exist: name another file$/);
    const isFolder = await refused("Invalid", () => restore(folder.path, other));
    expect(isFolder.message).to.match(/ is a directory: name the file of a backup$/);
  });

  it("marks an interrupted restore as incomplete", async () => {
    const store = open();
    for (let index = 0; index < 500; index++) await write(store, put(`k/${index}`, "x"));
    const other = open(revisionAfter(await backup(store, folder.file())));
    let commits = 0;
    const full = changed(other, {
      commit: async (transaction) => {
        if (++commits === 4) throw new StoreError("NoSpace", "the disk is full");
        return other.commit(transaction);
      },
    });
    const error = await refused("NoSpace", () => restore(folder.file(), full));
    expect(error.message).to.equal("the disk is full. memory holds a part of the backup: remove it and restore again");
    const again = await refused("Damaged", () => restore(folder.file(), other));
    expect(again.message).to.match(/^memory holds a part of a backup, because a restore was interrupted/);
    await refused("Damaged", () => checkRestored(other));
  });

  it("stops if another client writes to the store", async () => {
    const other = await backedUp();
    let commits = 0;
    const raced = changed(other, {
      commit: async (transaction) => {
        if (++commits === 2) await write(other, put("a", "mine"));
        return other.commit(transaction);
      },
    });
    const error = await refused("Invalid", () => restore(folder.file(), raced));
    expect(error.message).to.match(
      /^another process writes to memory: stop it during the restore\. memory holds a part/,
    );
  });
});
