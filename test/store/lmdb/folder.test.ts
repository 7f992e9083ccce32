import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lmdbStore, type Store, type StoreErrorCode } from "@virtual-workspaces/store";
import { expect } from "chai";
import { open } from "lmdb";
import { type Tree, tree } from "../../_setup/tree.ts";
import { put, refused } from "../contract/subject.ts";

const close = (store: Store) => store[Symbol.asyncDispose]();
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Returns a directory with a closed store. */
async function stored(): Promise<Tree> {
  const folder = tree({});
  const store = await lmdbStore({ dir: folder.path });
  await store.commit({ conditions: [], operations: [put("a", "1")] });
  await close(store);
  return folder;
}

/** Opening must fail with a message that names the directory and the remedy, and must not change the store. */
async function refusedUnchanged(code: StoreErrorCode, folder: Tree, remedy: string): Promise<void> {
  const inner = join(folder.path, "store");
  const files = (): string[] =>
    readdirSync(inner).map((file) => `${file} ${readFileSync(join(inner, file), "base64")}`);
  const before = files();
  const { message } = await refused(code, () => lmdbStore({ dir: folder.path }));
  expect(message).to.contain(folder.path).and.contain(remedy);
  expect(files()).to.deep.equal(before);
  expect(readdirSync(join(folder.path, "lock")), "nobody is locked out").to.deep.equal([]);
}

describe("the directory of a store on LMDB", () => {
  it("is created, for its user alone", async () => {
    using folder = tree({});
    const dir = join(folder.path, "not", "there");
    const before = process.umask(0);
    try {
      await close(await lmdbStore({ dir }));
    } finally {
      process.umask(before);
    }
    expect([dir, join(dir, "lock"), join(dir, "store")].map(mode)).to.deep.equal(["700", "700", "700"]);
    for (const file of readdirSync(join(dir, "store"))) expect(mode(join(dir, "store", file)), file).to.equal("600");
  });

  it("may hold other files, which do not change", async () => {
    using folder = tree({ "notes.txt": "mine", "other/data.mdb": "mine" });
    await close(await lmdbStore({ dir: folder.path }));
    await close(await lmdbStore({ dir: folder.path }));
    expect(readFileSync(join(folder.path, "notes.txt"), "utf8")).to.equal("mine");
    expect(readFileSync(join(folder.path, "other/data.mdb"), "utf8")).to.equal("mine");
  });

  it("is not created for reading only", async () => {
    using folder = tree({});
    const dir = join(folder.path, "d");
    await refused("ReadOnly", () => lmdbStore({ dir, readOnly: true }));
    expect(existsSync(dir)).to.equal(false);
  });

  it("is initialized again if a process died during its creation", async () => {
    using folder = tree({ "store.new/data.mdb": "half of one" });
    const store = await lmdbStore({ dir: folder.path });
    expect(await store.head()).to.equal(1);
    await close(store);
    expect(existsSync(join(folder.path, "store.new"))).to.equal(false);
  });

  it("starts at the given revision, once", async () => {
    using folder = tree({});
    for (const revision of [5000, 7000]) {
      const store = await lmdbStore({ dir: folder.path, revision });
      expect(await store.head()).to.equal(5000);
      const error = await refused("Compacted", () => store.range({ from: "", to: "z" }, { revision: 4999 }));
      expect(error.compacted).to.equal(5000);
      await close(store);
    }
    for (const revision of [0, 2 ** 45 + 1]) await refused("Invalid", () => lmdbStore({ dir: folder.path, revision }));
  });

  it("of a newer version is not changed", async () => {
    using folder = await stored();
    writeFileSync(join(folder.path, "store/format.json"), '{"format":2}');
    await refusedUnchanged("NewerFormat", folder, "newer version");
    using other = await stored();
    const path = join(other.path, "store/data.mdb");
    const bytes = readFileSync(path);
    bytes.writeUInt32LE(3, 28);
    writeFileSync(path, bytes);
    await refusedUnchanged("NewerFormat", other, "newer version");
  });

  it("is not a file", async () => {
    using folder = tree({ d: "mine" });
    const dir = join(folder.path, "d");
    for (const path of [dir, join(dir, "below")]) {
      const { message } = await refused("Invalid", () => lmdbStore({ dir: path }));
      expect(message).to.equal(`the store in ${path}: it is not a directory, or below a file: choose another one`);
    }
    expect(readFileSync(dir, "utf8")).to.equal("mine");
  });

  it("is damaged if a file is in place of the store", async () => {
    using folder = tree({ store: "mine" });
    await refused("Damaged", () => lmdbStore({ dir: folder.path }));
    expect(readFileSync(join(folder.path, "store"), "utf8")).to.equal("mine");
  });

  it("is released if its leases are damaged", async () => {
    using folder = await stored();
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    const root = open<Buffer, Buffer>({ path: join(folder.path, "store"), noSubdir: false, ...binary });
    await root.openDB<Buffer, Buffer>({ name: "leases", ...binary }).put(Buffer.alloc(8, 1), Buffer.from("no lease"));
    await root.close();
    for (let opening = 0; opening < 2; opening++) {
      const { message } = await refused("Damaged", () => lmdbStore({ dir: folder.path }));
      expect(message).to.contain(folder.path).and.contain("restore a backup");
      expect(readdirSync(join(folder.path, "lock"))).to.deep.equal([]);
    }
  });

  it("may hold other files beside lock claims", async () => {
    using folder = tree({ "lock/1700000000000-1-abcdefgh/notes.txt": "mine" });
    await close(await lmdbStore({ dir: folder.path }));
    expect(readdirSync(join(folder.path, "lock"))).to.deep.equal(["1700000000000-1-abcdefgh"]);
  });

  const damages: Record<string, (inner: string) => void> = {
    "without its data file": (inner) => rmSync(join(inner, "data.mdb")),
    "with an empty data file": (inner) => truncateSync(join(inner, "data.mdb")),
    "with half a header": (inner) => truncateSync(join(inner, "data.mdb"), 100),
    "with one header of two": (inner) => truncateSync(join(inner, "data.mdb"), 5000),
    "with the data of another program": (inner) =>
      writeFileSync(join(inner, "data.mdb"), Buffer.alloc(100_000, "SQLite format 3")),
    "with zeros for data": (inner) => writeFileSync(join(inner, "data.mdb"), Buffer.alloc(100_000)),
    "without a format": (inner) => rmSync(join(inner, "format.json")),
    "with a format that is not a number": (inner) => writeFileSync(join(inner, "format.json"), '{"format":"1"}'),
    "with an invalid format": (inner) => writeFileSync(join(inner, "format.json"), "\0\0\0"),
  };
  for (const [what, damage] of Object.entries(damages)) {
    it(`${what} is damaged, and does not change`, async () => {
      using folder = await stored();
      damage(join(folder.path, "store"));
      await refusedUnchanged("Damaged", folder, "restore a backup");
    });
  }
});
