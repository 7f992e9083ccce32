import type { LineWriter } from "./target.ts";

/** Characters that are joined for one write. */
const BATCH = 256 * 1024;

export interface LineQueueOptions {
  readonly writer: LineWriter;
  /** Characters that may wait. */
  readonly limit: number;
  /** How long a line waits for others to be written with, ms; 0 is the end of the turn. */
  readonly delay: number;
  /** Lines that could not be written, with the reason; called for each batch. */
  readonly onLost: (count: number, error: unknown) => void;
}

/** Lines on their way out: in order, gathered, and never more than may wait. */
export class LineQueue implements AsyncDisposable {
  readonly #options: LineQueueOptions;
  #lines: string[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #writing: Promise<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(options: LineQueueOptions) {
    this.#options = options;
  }

  /** Whether as much waits as may. */
  get full(): boolean {
    return this.#waiting >= this.#options.limit;
  }

  /** Takes a line, without its end, even when full: whoever must not, asks before. */
  add(line: string): void {
    this.#lines.push(line);
    this.#waiting += line.length + 1;
    if (this.#writing === undefined) this.#schedule();
  }

  /** Resolves once there is room. */
  room(): Promise<void> {
    if (!this.full) return Promise.resolve();
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Writes what waits, however long that takes. */
  async flush(): Promise<void> {
    while (this.#lines.length > 0 || this.#writing !== undefined) await (this.#writing ?? this.#start());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
    await this.#options.writer.close();
  }

  #schedule(): void {
    const { delay } = this.#options;
    // Not waited for by a process that has nothing else to do, unless it is a matter of a turn: `flush` is for that.
    if (delay === 0) this.#timer ??= setImmediate(() => void this.#start());
    else this.#timer ??= setTimeout(() => void this.#start(), delay).unref();
  }

  #start(): Promise<void> {
    if (this.#timer instanceof Object) {
      clearTimeout(this.#timer as NodeJS.Timeout);
      clearImmediate(this.#timer as NodeJS.Immediate);
      this.#timer = undefined;
    }
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#lines.length > 0) {
      const batch = this.#take();
      try {
        await this.#options.writer.write(batch);
      } catch (error) {
        this.#options.onLost(batch.length, error);
      }
      this.#release(batch);
    }
  }

  #take(): readonly string[] {
    let end = 0;
    for (let length = 0; end < this.#lines.length && (end === 0 || length < BATCH); end++)
      length += (this.#lines[end] as string).length;
    return this.#lines.splice(0, end);
  }

  #release(batch: readonly string[]): void {
    for (const line of batch) this.#waiting -= line.length + 1;
    if (this.full) return;
    this.#room?.resolve();
    this.#room = undefined;
  }
}
