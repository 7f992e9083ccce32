import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lmdbStore, type Store, type StoreErrorCode } from "@virtual-workspaces/store";
import { expect } from "chai";
import { open } from "lmdb";
import { type Tree, tree } from "../../_setup/tree.ts";
import { put, refused } from "../contract/subject.ts";

const close = (store: Store) => store[Symbol.asyncDispose]();
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** A folder with a store in it, closed. */
async function stored(): Promise<Tree> {
  const folder = tree({});
  const store = await lmdbStore({ dir: folder.path });
  await store.commit({ conditions: [], operations: [put("a", "1")] });
  await close(store);
  return folder;
}

/** Opening is refused with a message that names the folder and the remedy, and changes nothing in the store. */
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

describe("the folder of a store on lmdb", () => {
  it("is made, for its user alone", async () => {
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

  it("may hold other things, which stay as they are", async () => {
    using folder = tree({ "notes.txt": "mine", "other/data.mdb": "mine" });
    await close(await lmdbStore({ dir: folder.path }));
    await close(await lmdbStore({ dir: folder.path }));
    expect(readFileSync(join(folder.path, "notes.txt"), "utf8")).to.equal("mine");
    expect(readFileSync(join(folder.path, "other/data.mdb"), "utf8")).to.equal("mine");
  });

  it("is not made to be read only", async () => {
    using folder = tree({});
    const dir = join(folder.path, "d");
    await refused("ReadOnly", () => lmdbStore({ dir, readOnly: true }));
    expect(existsSync(dir)).to.equal(false);
  });

  it("begins anew where a process died while it made the store", async () => {
    using folder = tree({ "store.new/data.mdb": "half of one" });
    const store = await lmdbStore({ dir: folder.path });
    expect(await store.head()).to.equal(1);
    await close(store);
    expect(existsSync(join(folder.path, "store.new"))).to.equal(false);
  });

  it("begins at the revision that it is told, once", async () => {
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

  it("of a newer version is left alone", async () => {
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

  it("is damaged where a file has the place of the store", async () => {
    using folder = tree({ store: "mine" });
    await refused("Damaged", () => lmdbStore({ dir: folder.path }));
    expect(readFileSync(join(folder.path, "store"), "utf8")).to.equal("mine");
  });

  it("is let go of when its leases cannot be read, which is damage", async () => {
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

  it("may hold what is no claim where claims are", async () => {
    using folder = tree({ "lock/1700000000000-1-abcdefgh/notes.txt": "mine" });
    await close(await lmdbStore({ dir: folder.path }));
    expect(readdirSync(join(folder.path, "lock"))).to.deep.equal(["1700000000000-1-abcdefgh"]);
  });

  const damages: Record<string, (inner: string) => void> = {
    "without its data": (inner) => rmSync(join(inner, "data.mdb")),
    "with no byte of data": (inner) => truncateSync(join(inner, "data.mdb")),
    "with half a header": (inner) => truncateSync(join(inner, "data.mdb"), 100),
    "with one header of two": (inner) => truncateSync(join(inner, "data.mdb"), 5000),
    "with another's data": (inner) => writeFileSync(join(inner, "data.mdb"), Buffer.alloc(100_000, "SQLite format 3")),
    "with zeros for data": (inner) => writeFileSync(join(inner, "data.mdb"), Buffer.alloc(100_000)),
    "without a format": (inner) => rmSync(join(inner, "format.json")),
    "with a format that is no number": (inner) => writeFileSync(join(inner, "format.json"), '{"format":"1"}'),
    "with a format that is none": (inner) => writeFileSync(join(inner, "format.json"), "\0\0\0"),
  };
  for (const [what, damage] of Object.entries(damages)) {
    it(`${what} is damaged, and stays as it is`, async () => {
      using folder = await stored();
      damage(join(folder.path, "store"));
      await refusedUnchanged("Damaged", folder, "restore a backup");
    });
  }
});
