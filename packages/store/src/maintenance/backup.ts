import { createHash, randomUUID } from "node:crypto";
import { lstatSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { everything, pages } from "../engine/pages.ts";
import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { type BackupInfo, encodeHeader, encodeRecord, HEADER_BYTES, headerText, writing } from "./backup-file.ts";

/** Maximum number of attempts, if compaction overtakes the backup. */
const ATTEMPTS = 5;

/** Options of {@link backup}. */
export interface BackupOptions {
  /** Cancels the backup and removes its file. */
  readonly signal?: AbortSignal;
  /** Called with the number of keys in the file after each page. A second attempt starts again at the first page. */
  readonly onProgress?: (keys: number) => void;
}

/**
 * Writes the content of a store at one revision to a file, with any engine, while others use the store. It needs a few MiB of
 * memory. Keys with a lease keep its remaining time.
 *
 * The file gets its name when it is complete and durable, and replaces a regular file; until then it is called
 * `<file>.<uuid>.partial`. Security: only its owner may read it, since it holds everything in the store, including secrets.
 * If compaction overtakes the revision, the backup starts again at a newer one.
 *
 * For etcd this is an addition to etcd's own snapshots, which are the only way to restore an etcd.
 *
 * @throws StoreError `Compacted` if the history is too short several times, `NoSpace` and `ReadOnly` of the file, `Invalid`
 * if the directory is missing or the name is that of a link, device or the like, and errors of the store
 */
export async function backup(store: Store, file: string, options: BackupOptions = {}): Promise<BackupInfo> {
  for (let attempt = 1; ; attempt++)
    try {
      return await write(store, file, options);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Compacted") throw error;
      if (attempt < ATTEMPTS) continue;
      const remedy = "keep a longer history (age, revisions)";
      const message = `compaction overtook the backup of ${store.name}: ${remedy}`;
      throw new StoreError("Compacted", message, { cause: error });
    }
}

async function write(store: Store, file: string, { signal, onProgress }: BackupOptions): Promise<BackupInfo> {
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
    onProgress?.(count);
  }
  return await writer.finish({ revision, engine: store.name, time, count });
}

/** Returns the remaining time of a lease, in seconds; none if it expired since its key was read. */
async function remaining(store: Store, id: string): Promise<number> {
  try {
    return await store.remaining(id);
  } catch (error) {
    if (isStoreError(error) && error.code === "LeaseNotFound") return 0;
    throw error;
  }
}

/** Backup in progress: a file with a temporary name, removed unless it is finished. */
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

  /** @throws StoreError `Invalid` unless the file is regular or missing, and errors of {@link writing} */
  static async open(file: string): Promise<BackupWriter> {
    const partial = `${file}.${randomUUID()}.partial`;
    const handle = await writing(file, async () => {
      checkReplaceable(file);
      return await open(partial, "wx", 0o600);
    });
    return new BackupWriter({ file, partial }, handle);
  }

  /** Appends records. */
  async write(pieces: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat(pieces);
    this.#hash.update(bytes);
    await this.#put(bytes, HEADER_BYTES + this.#bytes);
    this.#bytes += bytes.length;
  }

  /** Completes and flushes the file, and gives it its name. */
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

/** Rejects a device, pipe or link, which a rename would replace. */
function checkReplaceable(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const why = found.isDirectory()
    ? "a directory: name a file"
    : found.isSymbolicLink()
      ? "a link: name its target"
      : "not a regular file: name another one";
  throw new StoreError("Invalid", `cannot write the backup ${file}: it is ${why}`);
}

/** Flushes a directory, and the names in it. Windows does that by itself, and cannot open directories. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}
