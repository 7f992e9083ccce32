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

/** Of what is in the folder. Raised with each change that older versions of this package cannot read. */
const FORMAT = 1;

/** A file up to this size is always looked through as a whole: it takes a tenth of a second. */
const SMALL_FILE = 64 * 2 ** 20;
/** One up to this size is when its last writer died: it takes a second. */
const MIDDLING_FILE = 256 * 2 ** 20;

/** A store's folder, open. */
export interface Folder extends AsyncDisposable {
  readonly dir: string;
  readonly tables: Tables;
  readonly state: LmdbState;
}

/** How a folder is opened. */
export interface FolderOptions {
  readonly dir: string;
  readonly readOnly: boolean;
  /** How long another process may take to let go of it, ms. */
  readonly wait: number;
  /** The revision that a store begins at where there is none. */
  readonly revision: number | undefined;
}

/** Opens a folder, and makes a store in it where there is none. @throws StoreError */
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
        throw new StoreError("ReadOnly", `there is no store in ${dir}: open it without readOnly to make one`);
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
    /** Which transaction was the last when it was closed in order. */
    closed: join(store, "closed.json"),
  };
}

/** Made beside, then renamed: what has the name is whole. */
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
  if (format === undefined) throw damaged(dir, "format.json is missing or cannot be read");
  if (format > FORMAT) throw newerFormat(dir);
  if (!existsSync(data)) throw damaged(dir, "data.mdb is missing");
  if (readOnly) checkSharedFile({ path: data, dir });
  else checkDataFile({ path: data, dir, depth: (meta, size) => (isWorthAll(paths, meta, size) ? Infinity : 1) });
  const tables = await openTables(store, { readOnly });
  try {
    const state = tables.state();
    if (state === undefined) throw damaged(dir, "its state cannot be read");
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

/** Whether every page is looked at. */
function isWorthAll({ closed }: Paths, { transaction }: Meta, size: number): boolean {
  const wasClosed = readNumber(closed, "transaction") === transaction;
  return size <= SMALL_FILE || (size <= MIDDLING_FILE && !wasClosed);
}

/** Saves the next start the check of the whole file; a disk that is full or gone may keep it from that. */
function noteClosed({ data, dir, closed }: Paths): void {
  try {
    const { transaction } = checkDataFile({ path: data, dir, depth: () => -1 });
    writeFileSync(closed, `${JSON.stringify({ transaction })}\n`, { mode: 0o600 });
  } catch {} // what is cut off is no number, and an older one is another transaction's
}

/** An integer in a file of JSON. @returns `undefined` when it is not there */
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

/** The names of all folders that it makes are durable. */
function makeFolder(dir: string): void {
  const first = mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = dir; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}

/** Names are durable when their folder is. */
function syncFolder(dir: string): void {
  const folder = openSync(dir, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
