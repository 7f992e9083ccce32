import type { Writable } from "node:stream";
import type { Awaitable } from "../../util/awaitable.ts";
import { LogFile, type LogFileOptions } from "./log-file.ts";

/**
 * Where lines go: the path of a file, a file that is rotated, a stream (`process.stdout`; it is not ended), or a
 * function, which gets each line without its end, the next one once its promise has settled.
 */
export type LineTarget = string | LogFileOptions | Writable | ((line: string) => Awaitable<void>);

/** What lines are written with. */
export interface LineWriter {
  /** Opens what has to be. @throws Error that says in plain words what cannot be written */
  open(): Promise<void>;
  /**
   * Writes whole lines, one call at a time. Rejects when they are lost, with {@link SomeLost} when not all are. The bytes
   * are the caller's again afterwards.
   */
  write(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Some of the lines could not be written, the last of them for `cause`. */
export class SomeLost extends Error {
  readonly count: number;

  constructor(count: number, cause: unknown) {
    super("lines lost", { cause });
    this.count = count;
  }
}

/** Told of what goes wrong without a line being lost. */
export type Trouble = (error: unknown) => void;

export function writerTo(target: LineTarget, trouble: Trouble): LineWriter {
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
    // What goes wrong is told to whoever writes: a reader that has gone away must not end the process.
    stream.on("error", ignore);
  }

  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      // A copy: a stream may hand on what it has taken.
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
