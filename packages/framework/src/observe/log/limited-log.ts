import type { Log, LogRecord } from "./log.ts";

/** Limit of log lines at once, and how long each counts, in ms. */
const BURST = 10;
const PER_LINE = 1000;
/** Limit of unverified text in a log line, in characters. */
const SHOWN = 200;

/** Log of what clients can cause at any rate. When there are too many lines, it logs only their number, as `untold`. */
export class LimitedLog {
  readonly #log: Log;
  #lines = BURST;
  #countedAt = performance.now();
  #untold = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  tell(record: LogRecord): void {
    const now = performance.now();
    this.#lines = Math.min(BURST, this.#lines + (now - this.#countedAt) / PER_LINE);
    this.#countedAt = now;
    if (this.#lines < 1) {
      this.#untold += 1;
      return;
    }
    this.#lines -= 1;
    const untold = this.#untold === 0 ? {} : { untold: this.#untold };
    this.#untold = 0;
    this.#log({ ...record, ...untold });
  }
}

/** Shortens unverified text. */
export function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
