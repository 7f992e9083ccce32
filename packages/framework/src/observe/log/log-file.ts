import { type FileHandle, lstat, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { LineWriter, Trouble } from "./target.ts";

/**
 * A file that is begun anew before it grows too long (Kubernetes' `--audit-log-max*` flags; of each, 0 is no bound). One
 * that cannot be renamed is written on, which the log says; links and devices are never renamed.
 */
export interface LogFileOptions {
  /** Made readable to its owner alone. Its folder must be there. Two servers cannot share one. */
  readonly path: string;
  /** Bytes after which it is renamed to `<name>-<time>.<extension>` and begun anew (`maxsize`). @default 100 MiB */
  readonly maxSize?: number;
  /** How many renamed ones are kept (`maxbackup`). @default all */
  readonly maxBackups?: number;
  /** For how long renamed ones are kept, days (`maxage`). @default for ever */
  readonly maxAge?: number;
}

const NEWLINE = Buffer.from("\n");
const DAY = 86_400_000;
/** `2026-11-21T17-33-10.123`: no colons, which some file systems refuse. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;

/** Appends to a file, and rotates it. */
export class LogFile implements LineWriter {
  readonly #options: Required<LogFileOptions>;
  #handle: FileHandle | undefined;
  #size = 0;
  /** A write that failed may have left a part of a line. */
  #torn = false;
  readonly #trouble: Trouble;
  #troubled = false;

  constructor({ path, maxSize = 100 * 2 ** 20, maxBackups = 0, maxAge = 0 }: LogFileOptions, trouble: Trouble) {
    this.#options = { path, maxSize: bound(maxSize), maxBackups: bound(maxBackups), maxAge: bound(maxAge) };
    this.#trouble = trouble;
  }

  async open(): Promise<void> {
    const { path } = this.#options;
    try {
      this.#handle = await open(path, "a", 0o600);
      this.#size = (await this.#handle.stat()).size;
    } catch (error) {
      throw new Error(`cannot write ${path}: ${(error as Error).message}`, { cause: error });
    }
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#size > 0 && this.#size + bytes.length > this.#options.maxSize) await this.#rotate();
    if (this.#handle === undefined) await this.open();
    try {
      if (this.#torn) await this.#append(NEWLINE);
      await this.#append(bytes);
      this.#torn = false;
      this.#size += bytes.length;
    } catch (error) {
      this.#torn = true;
      throw error;
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const written = await this.#handle?.write(bytes, at);
      at += written?.bytesWritten ?? 0;
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Never rejects: what stands there is written on, and this is tried again when it has grown by as much. */
  async #rotate(): Promise<void> {
    const old = this.#handle;
    this.#size = 0;
    try {
      if (!(await this.#moved())) return;
      await this.open();
      this.#torn = false;
      await old?.close();
      await this.#removeOld();
      this.#troubled = false;
    } catch (error) {
      // Once: a log that said so each time would fill itself.
      if (!this.#troubled) this.#trouble(error);
      this.#troubled = true;
    }
  }

  /** Whether the file is no longer where it was. */
  async #moved(): Promise<boolean> {
    const { path } = this.#options;
    try {
      if (!(await lstat(path)).isFile()) return false;
      await rename(path, await this.#freeName());
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return true; // somebody else was first
      throw error;
    }
  }

  /** Two within a millisecond would have one name. */
  async #freeName(): Promise<string> {
    for (let time = Date.now(); ; time++) {
      const name = this.#named(time);
      if ((await stat(name).catch(() => undefined)) === undefined) return name;
    }
  }

  #named(time: number): string {
    const { path } = this.#options;
    const extension = extname(path);
    const text = new Date(time).toISOString().slice(0, -1).replaceAll(":", "-");
    return join(dirname(path), `${basename(path, extension)}-${text}${extension}`);
  }

  /** Whatever cannot be removed now is removed with the next. */
  async #removeOld(): Promise<void> {
    const { maxBackups, maxAge } = this.#options;
    if (maxBackups === Infinity && maxAge === Infinity) return;
    const oldest = Date.now() - maxAge * DAY;
    const backups = await this.#backups();
    const old = backups.filter(({ time }, at) => at >= maxBackups || time < oldest);
    await Promise.all(old.map(({ file }) => unlink(file).catch(() => undefined)));
  }

  /** The newest first. */
  async #backups(): Promise<readonly { readonly file: string; readonly time: number }[]> {
    const { path } = this.#options;
    const extension = extname(path);
    const prefix = `${basename(path, extension)}-`;
    const names = await readdir(dirname(path));
    return names
      .filter((name) => name.startsWith(prefix) && name.endsWith(extension))
      .map((name) => ({
        file: join(dirname(path), name),
        text: name.slice(prefix.length, name.length - extension.length),
      }))
      .filter(({ text }) => TIME.test(text))
      .map(({ file, text }) => ({
        file,
        time: Date.parse(`${text.slice(0, 10)}T${text.slice(11).replaceAll("-", ":")}Z`),
      }))
      .sort((a, b) => b.time - a.time);
  }
}

function bound(given: number): number {
  return given === 0 ? Infinity : given;
}
