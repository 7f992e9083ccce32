import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StoreError } from "../store-error.ts";
import { checkDataFile, checkSharedFile, type Meta } from "./data-file.ts";
import { damaged, faultOf, newerFormat } from "./faults.ts";
import { lock } from "./lock.ts";
import { createTables, FIRST, type LmdbState, openTables, type Tables } from "./tables.ts";

/** Format of the directory. Increased with each change that older versions of this package cannot read. */
const FORMAT = 1;

/** File size up to which all pages are checked at every start, which takes a tenth of a second. */
const SMALL_FILE = 64 * 2 ** 20;
/** File size up to which all pages are checked after a crash, which takes a second. */
const MIDDLING_FILE = 256 * 2 ** 20;

/** Open directory of a store. */
export interface Folder extends AsyncDisposable {
  readonly dir: string;
  readonly tables: Tables;
  readonly state: LmdbState;
}

/** Options of opening a directory. */
export interface FolderOptions {
  readonly dir: string;
  readonly readOnly: boolean;
  /** Time for another process to release the lock, in ms. */
  readonly wait: number;
  /** First revision of a new store. */
  readonly revision: number | undefined;
}

/** Opens a directory, and creates a store in an empty one. @throws StoreError */
export async function openFolder(options: FolderOptions): Promise<Folder> {
  const { dir, readOnly, wait } = options;
  let held: AsyncDisposable | undefined;
  try {
    if (!readOnly) {
      makeFolder(dir);
      held = await lock(dir, wait);
    }
    const paths = pathsIn(dir);
    if (!existsSync(paths.store)) {
      if (readOnly)
        throw new StoreError("ReadOnly", `the directory ${dir} holds no store: open it without readOnly to create one`);
      await create(paths, options.revision);
    }
    return await open(paths, { ...options, held });
  } catch (error) {
    await held?.[Symbol.asyncDispose]();
    throw faultOf(error, dir);
  }
}

type Paths = ReturnType<typeof pathsIn>;

function pathsIn(dir: string) {
  const store = join(dir, "store");
  return {
    dir,
    store,
    data: join(store, "data.mdb"),
    format: join(store, "format.json"),
    /** Number of the last transaction before a graceful close. */
    closed: join(store, "closed.json"),
  };
}

/** Creates the store under another name, then renames it, so that the name implies completeness. */
async function create({ dir, store }: Paths, revision: number | undefined): Promise<void> {
  const beside = `${store}.new`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { mode: 0o700 });
  await createTables(beside, revision === undefined ? FIRST : { ...FIRST, revision, compacted: revision });
  writeFileSync(join(beside, "format.json"), `${JSON.stringify({ format: FORMAT })}\n`, { mode: 0o600, flush: true });
  syncFolder(beside);
  renameSync(beside, store);
  syncFolder(dir);
}

type OpenOptions = FolderOptions & { readonly held: AsyncDisposable | undefined };

async function open(paths: Paths, { readOnly, held }: OpenOptions): Promise<Folder> {
  const { dir, store, data } = paths;
  const format = readNumber(paths.format, "format");
  if (format === undefined) throw damaged(dir, "format.json is missing or unreadable");
  if (format > FORMAT) throw newerFormat(dir);
  if (!existsSync(data)) throw damaged(dir, "data.mdb is missing");
  if (readOnly) checkSharedFile({ path: data, dir });
  else checkDataFile({ path: data, dir, depth: (meta, size) => (isWorthAll(paths, meta, size) ? Infinity : 1) });
  const tables = await openTables(store, { readOnly });
  try {
    const state = tables.state();
    if (state === undefined) throw damaged(dir, "its state is unreadable");
    return { dir, tables, state, [Symbol.asyncDispose]: () => close(paths, tables, held) };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function close(paths: Paths, tables: Tables, held: AsyncDisposable | undefined): Promise<void> {
  try {
    await tables.close();
    if (held !== undefined) noteClosed(paths);
  } finally {
    await held?.[Symbol.asyncDispose]();
  }
}

/** Returns whether to check every page. */
function isWorthAll({ closed }: Paths, { transaction }: Meta, size: number): boolean {
  const wasClosed = readNumber(closed, "transaction") === transaction;
  return size <= SMALL_FILE || (size <= MIDDLING_FILE && !wasClosed);
}

/** Records a graceful close, which saves the next start a full check. Best effort: the disk may be full or gone. */
function noteClosed({ data, dir, closed }: Paths): void {
  try {
    const { transaction } = checkDataFile({ path: data, dir, depth: () => -1 });
    writeFileSync(closed, `${JSON.stringify({ transaction })}\n`, { mode: 0o600 });
  } catch {} // a truncated number is invalid, and an older one names another transaction
}

/** Returns an integer of a JSON file, `undefined` if there is none. */
function readNumber(path: string, name: string): number | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8"))?.[name];
    return Number.isSafeInteger(value) ? value : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Creates a directory with its parents, durably. */
function makeFolder(dir: string): void {
  const first = mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = dir; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}

/** Flushes a directory, which makes the names in it durable. */
function syncFolder(dir: string): void {
  const folder = openSync(dir, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
