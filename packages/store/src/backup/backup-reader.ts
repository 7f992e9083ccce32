import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { reading } from "./file-errors.ts";
import { type BackupHeader, type BackupInfo, damaged, decodeHeader, HEADER_BYTES, headerText } from "./header.ts";
import { type BackupRecord, decodeRecords } from "./records.ts";

/** Read at once, bytes. */
const CHUNK = 1024 * 1024;

/** A backup's file, open: what was verified is what is read. */
export class BackupReader implements AsyncDisposable {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #header: BackupHeader;

  private constructor(file: string, opened: { readonly handle: FileHandle; readonly header: BackupHeader }) {
    this.#file = file;
    this.#handle = opened.handle;
    this.#header = opened.header;
  }

  /** @throws StoreError `Invalid` when it cannot be opened, `Damaged`, `NewerFormat` */
  static async open(file: string): Promise<BackupReader> {
    const handle = await reading(file, () => open(file, "r"));
    try {
      const block = Buffer.alloc(HEADER_BYTES);
      const { bytesRead } = await reading(file, () => handle.read(block, 0, HEADER_BYTES, 0));
      return new BackupReader(file, { handle, header: decodeHeader(block.subarray(0, bytesRead), file) });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get info(): BackupInfo {
    const { sha256: _, ...info } = this.#header;
    return info;
  }

  /** Reads all of it. @throws StoreError `Damaged` unless it is what was written */
  async verify(): Promise<void> {
    const { size } = await this.#handle.stat();
    const whole = HEADER_BYTES + this.#header.bytes;
    if (size !== whole) throw damaged(this.#file, `it has ${size} bytes of ${whole}`);
    const hash = createHash("sha256");
    for await (const chunk of this.#chunks()) hash.update(chunk);
    if (hash.update(headerText(this.#header)).digest("hex") !== this.#header.sha256)
      throw damaged(this.#file, "its checksum is wrong");
    let count = 0;
    try {
      for await (const { type } of this.records()) count += type === "entry" ? 1 : 0;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw damaged(this.#file, error.message);
    }
    if (count !== this.#header.count) throw damaged(this.#file, `it has ${count} keys of ${this.#header.count}`);
  }

  records(): AsyncIterable<BackupRecord> {
    return decodeRecords(this.#chunks());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** The bytes of the records. */
  async *#chunks(): AsyncGenerator<Buffer, void, undefined> {
    for (let position = HEADER_BYTES; ; ) {
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  }
}
