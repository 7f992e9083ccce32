import { createHash, randomUUID } from "node:crypto";
import { lstatSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { everything, pages } from "../engine/pages.ts";
import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { type BackupInfo, encodeHeader, encodeRecord, HEADER_BYTES, headerText, writing } from "./backup-file.ts";

/** How often it begins again when the history is compacted before it is done. */
const ATTEMPTS = 5;

/** How a backup is made. */
export interface BackupOptions {
  /** Gives it up; nothing stays. */
  readonly signal?: AbortSignal;
}

/**
 * Writes everything that stands in a store at one revision to a file, whatever the engine, while others read and write
 * the store. Takes a few MiB of memory. Keys with a lease keep what is left of its time when they are read.
 *
 * The file appears under its name when it is whole and on disk, in place of a regular file that is there; until then it is
 * called `<file>.<uuid>.partial`. Only its owner may read it, since it holds whatever the store does, secrets too. When the
 * history is compacted beyond the revision meanwhile, it begins again at a newer one.
 *
 * For etcd it is one more way beside etcd's own snapshots, from which alone an etcd can be restored.
 *
 * @throws StoreError `Compacted` when the history is too short for it time after time, `NoSpace` and `ReadOnly` of the
 * file, `Invalid` when there is no such folder or the name is that of a link, a device or the like, and those of the store
 */
export async function backup(store: Store, file: string, options: BackupOptions = {}): Promise<BackupInfo> {
  for (let attempt = 1; ; attempt++)
    try {
      return await write(store, file, options);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Compacted") throw error;
      if (attempt < ATTEMPTS) continue;
      const remedy = "keep it for longer (age, revisions)";
      const message = `the history is compacted before a backup of ${store.name} is done: ${remedy}`;
      throw new StoreError("Compacted", message, { cause: error });
    }
}

async function write(store: Store, file: string, { signal }: BackupOptions): Promise<BackupInfo> {
  await using writer = await BackupWriter.open(file);
  const time = new Date().toISOString();
  const revision = await store.head();
  const leases = new Map<string, number>();
  let count = 0;
  for await (const { entries } of pages(store, everything, { revision, signal })) {
    const pieces: Buffer[] = [];
    for (const { key, value, lease } of entries) {
      if (lease !== undefined && !leases.has(lease)) {
        leases.set(lease, leases.size + 1);
        pieces.push(...encodeRecord({ type: "lease", lease: leases.size, remaining: await remaining(store, lease) }));
      }
      const number = lease === undefined ? undefined : leases.get(lease);
      pieces.push(...encodeRecord({ type: "entry", key, value, lease: number }));
    }
    count += entries.length;
    await writer.write(pieces);
  }
  return await writer.finish({ revision, engine: store.name, time, count });
}

/** What is left of a lease, s: none when it ended since its key was read. */
async function remaining(store: Store, id: string): Promise<number> {
  try {
    return await store.remaining(id);
  } catch (error) {
    if (isStoreError(error) && error.code === "LeaseNotFound") return 0;
    throw error;
  }
}

/** A backup coming to be: a file under another name, which goes when it is not finished. */
class BackupWriter implements AsyncDisposable {
  readonly #file: string;
  readonly #partial: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash("sha256");
  #bytes = 0;
  #finished = false;

  private constructor(names: { readonly file: string; readonly partial: string }, handle: FileHandle) {
    this.#file = names.file;
    this.#partial = names.partial;
    this.#handle = handle;
  }

  /** @throws StoreError `Invalid` unless the file is a regular one or not there, and those of {@link writing} */
  static async open(file: string): Promise<BackupWriter> {
    const partial = `${file}.${randomUUID()}.partial`;
    const handle = await writing(file, async () => {
      checkReplaceable(file);
      return await open(partial, "wx", 0o600);
    });
    return new BackupWriter({ file, partial }, handle);
  }

  /** Appends to the records. */
  async write(pieces: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat(pieces);
    this.#hash.update(bytes);
    await this.#put(bytes, HEADER_BYTES + this.#bytes);
    this.#bytes += bytes.length;
  }

  /** Completes the file, and gives it its name when it is on disk. */
  async finish(about: Omit<BackupInfo, "bytes">): Promise<BackupInfo> {
    const info: BackupInfo = { ...about, bytes: this.#bytes };
    const sha256 = this.#hash.update(headerText(info)).digest("hex");
    await this.#put(encodeHeader({ ...info, sha256 }), 0);
    await writing(this.#file, async () => {
      await this.#handle.sync();
      await rename(this.#partial, this.#file);
      this.#finished = true;
      await syncFolder(dirname(this.#file));
    });
    return info;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
    if (!this.#finished) await rm(this.#partial, { force: true });
  }

  async #put(bytes: Buffer, position: number): Promise<void> {
    await writing(this.#file, async () => {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
    });
  }
}

/** A rename takes away whatever has the name: a device, a pipe, a link. */
function checkReplaceable(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const why = found.isDirectory()
    ? "a folder: name a file"
    : found.isSymbolicLink()
      ? "a link: name the file that it points to"
      : "no regular file: name another one";
  throw new StoreError("Invalid", `the backup ${file} cannot be written: it is ${why}`);
}

/** Puts the names in a folder on disk. Windows does that by itself, and opens no folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}
