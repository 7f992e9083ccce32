import { type FileHandle, lstat, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { Writable } from "node:stream";
import type { Awaitable } from "../../util/awaitable.ts";

/**
 * Target of lines: the path of a file, a rotated file, a stream (`process.stdout`; it stays open), or a function, which gets
 * each line without its end, the next one once its promise has settled.
 */
export type LineTarget = string | LogFileOptions | Writable | ((line: string) => Awaitable<void>);

/** Writer of lines. */
export interface LineWriter {
  /** Opens the target. @throws Error that states what cannot be written */
  open(): Promise<void>;
  /**
   * Writes whole lines, one call at a time. Rejects when lines are lost, with a `SomeLost` when only some are. The caller
   * may reuse the bytes afterwards.
   */
  write(bytes: Buffer): Promise<void>;
  /** Closes the target. A stream stays open. */
  close(): Promise<void>;
}

/** Error of a write that lost some of its lines, the last of them for `cause`. */
export class SomeLost extends Error {
  readonly count: number;

  constructor(count: number, cause: unknown) {
    super("lines lost", { cause });
    this.count = count;
  }
}

/** Called on a problem that loses no line. */
export type Trouble = (error: unknown) => void;

/**
 * Returns a writer of lines, for processes that write one file together: one of them writes it, and the others send it their lines.
 *
 * @param trouble called on a problem that loses no line, such as a failed rotation
 */
export function lineWriter(target: LineTarget, trouble: Trouble): LineWriter {
  if (typeof target === "string") return new LogFile({ path: target }, trouble);
  if (typeof target === "function") return new Calls(target);
  return "path" in target && !("write" in target) ? new LogFile(target, trouble) : new Stream(target as Writable);
}

const NOTHING = (): Promise<void> => Promise.resolve();

class Calls implements LineWriter {
  readonly #call: (line: string) => Awaitable<void>;
  readonly open: () => Promise<void> = NOTHING;
  readonly close: () => Promise<void> = NOTHING;

  constructor(call: (line: string) => Awaitable<void>) {
    this.#call = call;
  }

  async write(bytes: Buffer): Promise<void> {
    let lost: SomeLost | undefined;
    for (const line of bytes.toString("utf8", 0, bytes.length - 1).split("\n"))
      try {
        await this.#call(line);
      } catch (error) {
        lost = new SomeLost((lost?.count ?? 0) + 1, error);
      }
    if (lost !== undefined) throw lost;
  }
}

class Stream implements LineWriter {
  readonly #stream: Writable;
  readonly open: () => Promise<void> = NOTHING;

  constructor(stream: Writable) {
    this.#stream = stream;
    // Errors go to the writer: a reader that has disconnected must not end the process.
    stream.on("error", ignore);
  }

  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      // A copy: a stream may still use what it has taken.
      this.#stream.write(Buffer.from(bytes), (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }

  close(): Promise<void> {
    this.#stream.off("error", ignore);
    return Promise.resolve();
  }
}

function ignore(): void {}

/**
 * A file with rotation (Kubernetes' `--audit-log-max*` flags; 0 lifts each limit). If a rename fails, the file grows on, and
 * the log reports it; links and devices are never renamed.
 */
export interface LogFileOptions {
  /** Path of the file, readable by its owner only. Its folder must exist. Two servers cannot share a file. */
  readonly path: string;
  /** Size in bytes after which it is renamed to `<name>-<time>.<extension>` and started again (`maxsize`). @default 100 MiB */
  readonly maxSize?: number;
  /** Number of rotated files to keep (`maxbackup`). @default all */
  readonly maxBackups?: number;
  /** Age up to which rotated files are kept, days (`maxage`). @default unlimited */
  readonly maxAge?: number;
}

const NEWLINE = Buffer.from("\n");
const DAY = 86_400_000;
/** `2026-11-21T17-33-10.123`: without colons, which some file systems reject. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;

/** Appends to a file, and rotates it. */
class LogFile implements LineWriter {
  readonly #options: Required<LogFileOptions>;
  #handle: FileHandle | undefined;
  #size = 0;
  /** A failed write may have left an incomplete line. */
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

  /** Never rejects: on failure the current file grows on, and the next rotation tries again. */
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
      // Once: repeated reports would fill the log.
      if (!this.#troubled) this.#trouble(error);
      this.#troubled = true;
    }
  }

  /** Whether the file has been moved away. */
  async #moved(): Promise<boolean> {
    const { path } = this.#options;
    try {
      if (!(await lstat(path)).isFile()) return false;
      await rename(path, await this.#freeName());
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return true; // another process renamed it first
      throw error;
    }
  }

  /** Finds a free name: two rotations within a millisecond would collide. */
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

  /** A file that cannot be removed now is removed with the next rotation. */
  async #removeOld(): Promise<void> {
    const { maxBackups, maxAge } = this.#options;
    if (maxBackups === Infinity && maxAge === Infinity) return;
    const oldest = Date.now() - maxAge * DAY;
    const backups = await this.#backups();
    const old = backups.filter(({ time }, at) => at >= maxBackups || time < oldest);
    await Promise.all(old.map(({ file }) => unlink(file).catch(() => undefined)));
  }

  /** Newest first. */
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
