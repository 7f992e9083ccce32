import { createHash, randomUUID } from "node:crypto";
import { lstatSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../store-error.ts";
import { writing } from "./file-errors.ts";
import { type BackupInfo, encodeHeader, HEADER_BYTES, headerText } from "./header.ts";

/** A backup coming to be: a file under another name, which goes when it is not finished. */
export class BackupWriter implements AsyncDisposable {
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
