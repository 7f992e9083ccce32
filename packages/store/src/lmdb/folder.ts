import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../store-error.ts";
import { damaged, faultOf, newerFormat } from "./faults.ts";
import { checkFile } from "./file-check.ts";
import { lock } from "./lock.ts";
import { FIRST, type State } from "./state.ts";
import { createTables, openTables, type Tables } from "./tables.ts";

/** Of what is in the folder. Raised with each change that older versions of this package cannot read. */
const FORMAT = 1;

/** A store's folder, open. */
export interface Folder extends AsyncDisposable {
  readonly dir: string;
  readonly tables: Tables;
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
export async function openFolder(options: FolderOptions): Promise<Folder & { readonly state: State }> {
  const { dir, readOnly, wait } = options;
  await using stack = new AsyncDisposableStack();
  try {
    if (!readOnly) {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      stack.use(await lock(dir, wait));
    }
    const inner = join(dir, "store");
    if (!isThere(inner, dir)) {
      if (readOnly) throw new StoreError("ReadOnly", `there is no store in ${dir}: open it without readOnly to make one`);
      await create(inner, options.revision);
    }
    checkFile(join(inner, "data.mdb"), dir);
    const tables = openTables(inner, { readOnly });
    stack.defer(() => tables.close());
    const state = tables.state();
    if (state === undefined) throw damaged(dir, "its state cannot be read");
    const opened = stack.move();
    return { dir, tables, state, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  } catch (error) {
    throw faultOf(error, dir);
  }
}

/** Made beside, then renamed: what has the name is whole. */
async function create(inner: string, revision: number | undefined): Promise<void> {
  const beside = `${inner}.new`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { mode: 0o700 });
  await createTables(beside, revision === undefined ? FIRST : { ...FIRST, revision, compacted: revision });
  writeFileSync(join(beside, "format.json"), `${JSON.stringify({ format: FORMAT })}\n`, { mode: 0o600, flush: true });
  sync(beside);
  renameSync(beside, inner);
  sync(join(inner, ".."));
}
