import { texts } from "../texts.ts";

/** Lines that the page keeps. */
export const MOST_LINES = 10_000;
/** Characters that it keeps, of all lines together. */
const MOST_CHARACTERS = 8_000_000;
/** Characters that it keeps of one line. */
const LONGEST = 64 * 1024;

export interface LogLine {
  /** Grows from line to line. */
  readonly id: number;
  /** Time as the server wrote it; "" if it wrote none. */
  readonly time: string;
  readonly text: string;
}

const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);
/** Control sequences of terminals: colors, titles. */
const SEQUENCES = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)|[@-Z\\\\^_])`,
  "g",
);
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?/;

/** Separates the time that the server writes before each line. */
export function timeOf(raw: string): string {
  return TIME.exec(raw)?.[1] ?? "";
}

/** The last lines of a log. Bounded: the first ones are dropped when there are too many. */
export class LogLines {
  #lines: LogLine[] = [];
  #characters = 0;
  #next = 0;
  /** Number of lines that were dropped. */
  dropped = 0;

  get all(): readonly LogLine[] {
    return this.#lines;
  }

  /** Adds lines as the server sent them, with times. */
  add(raws: readonly string[]): void {
    const lines = raws.map((raw) => this.#lineOf(raw));
    for (const { text } of lines) this.#characters += text.length;
    // A new array: the page may still show the old one.
    const all = this.#lines.concat(lines);
    let first = Math.max(0, all.length - MOST_LINES);
    for (let at = 0; at < all.length && (at < first || this.#characters > MOST_CHARACTERS); at += 1) {
      this.#characters -= all[at]?.text.length ?? 0;
      first = Math.max(first, at + 1);
    }
    this.dropped += first;
    this.#lines = first === 0 ? all : all.slice(first);
  }

  clear(): void {
    this.#lines = [];
    this.#characters = 0;
    this.dropped = 0;
  }

  #lineOf(raw: string): LogLine {
    const [before = "", time = ""] = TIME.exec(raw) ?? [];
    const whole = raw.slice(before.length).replace(SEQUENCES, "");
    const text = whole.length <= LONGEST ? whole : whole.slice(0, LONGEST) + texts.logs.cut(whole.length - LONGEST);
    return { id: this.#next++, time, text };
  }
}
