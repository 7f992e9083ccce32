// The rival of the store in lmdb: lmdb itself, whose own batching gathers what comes together.
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { serveBare } from "./bare-handler.ts";
import type { Folder } from "./stored-kinds.ts";

/** How many lines are written in one go. */
const PAGE = 500;

let root: RootDatabase<Buffer, string>;
let objects: Database<Buffer, string>;
let log: Database<Buffer, number>;

serveBare<Folder>({
  /** As the engine opens it: acknowledged is what is on disk. */
  open: ({ dir }) => {
    root = open({ path: dir, noSubdir: false, overlappingSync: false, encoding: "binary", maxDbs: 8 });
    objects = root.openDB<Buffer, string>({ name: "objects", encoding: "binary" });
    log = root.openDB<Buffer, number>({ name: "events", encoding: "binary", keyEncoding: "uint32" });
  },
  get: (key) => objects.getBinary(key) as Buffer,
  put: (key, value) => objects.put(key, value),
  range: (start, end) => Array.from(objects.getRange({ start, end }), ({ value }) => value),
  keep: async (lines) => {
    await root.batch(() => {
      for (const [n, line] of lines.entries()) void log.put(n + 1, line);
    });
    return 0;
  },
  *replay(after) {
    for (let start = after + 1; ; ) {
      const lines = Array.from(log.getRange({ start, limit: PAGE }));
      if (lines.length === 0) return;
      start = (lines.at(-1)?.key ?? 0) + 1;
      yield Buffer.concat(lines.map(({ value }) => value));
    }
  },
  /** Where the newest entry stands, then the entry. */
  openAndGet: async ({ dir }, key) => {
    const began = performance.now();
    const file = open({ path: join(dir, "store"), noSubdir: false, maxDbs: 8 });
    const table = (name: string) => file.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
    const found = table("log").getBinary(table("keys").getBinary(Buffer.from(key)) as Buffer);
    const ms = performance.now() - began;
    await file.close();
    if (found === undefined) throw new Error(`there is no ${key}`);
    return ms;
  },
});
