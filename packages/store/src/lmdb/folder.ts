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
import { join } from "node:path";
import { StoreError } from "../store-error.ts";
import { checkDataFile, type Meta } from "./data-file.ts";
import { damaged, faultOf, newerFormat } from "./faults.ts";
import { lock } from "./lock.ts";
import { FIRST, type State } from "./state.ts";
import { createTables, openTables, type Tables } from "./tables.ts";

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
  readonly state: State;
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
      mkdirSync(dir, { recursive: true, mode: 0o700 });
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
  const { format } = readNumbers(paths.format) ?? {};
  if (format === undefined) throw damaged(dir, "format.json is missing or cannot be read");
  if (format > FORMAT) throw newerFormat(dir);
  if (!existsSync(data)) throw damaged(dir, "data.mdb is missing");
  const wasClosed = ({ transaction }: Meta): boolean => transaction === readNumbers(paths.closed)?.["transaction"];
  const isWhole = (meta: Meta, size: number): boolean =>
    !readOnly && (size <= SMALL_FILE || (size <= MIDDLING_FILE && !wasClosed(meta)));
  checkDataFile({ path: data, dir, isWhole });
  const tables = openTables(store, { readOnly });
  const state = tables.state();
  if (state === undefined) {
    await tables.close();
    throw damaged(dir, "its state cannot be read");
  }
  return {
    dir,
    tables,
    state,
    async [Symbol.asyncDispose]() {
      await tables.close();
      if (!readOnly) noteClosed(paths);
      await held?.[Symbol.asyncDispose]();
    },
  };
}

/** Saves the next start the check of the whole file; a full disk may keep it from that. */
function noteClosed({ data, dir, closed }: Paths): void {
  try {
    const { transaction } = checkDataFile({ path: data, dir, isWhole: () => false });
    writeFileSync(closed, `${JSON.stringify({ transaction })}\n`, { mode: 0o600 });
  } catch {
    rmSync(closed, { force: true });
  }
}

function readNumbers(path: string): Record<string, number | undefined> | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code === "ENOENT") return undefined;
    throw error;
  }
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
