import { clearLine, cursorTo } from "node:readline";

/** Delay before the line appears, so that short work prints nothing, in milliseconds. */
const DELAY = 500;
/** Time between two updates of the line, in milliseconds. */
const INTERVAL = 200;

let current: Progress | undefined;

/**
 * State of long work, on one line of stderr that is rewritten in place, with the time since its start:
 * `restoring: 12,000 of 40,000 keys (3 s)`. Prints nothing unless stderr is a terminal, nor with `quiet`.
 */
export class Progress implements Disposable {
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #text: string;
  #isShown = false;

  constructor(text: string, { quiet = false }: { readonly quiet?: boolean | undefined } = {}) {
    this.#text = text;
    if (quiet || !process.stderr.isTTY) return;
    current = this;
    this.#timer = setInterval(() => this.#draw(), INTERVAL).unref();
  }

  /** Sets the text of the line. The line shows it at its next update. */
  set(text: string): void {
    this.#text = text;
  }

  /** Removes the line from the terminal; the next update shows it again. */
  clear(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    cursorTo(process.stderr, 0);
    clearLine(process.stderr, 1);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
    if (current === this) current = undefined;
  }

  #draw(): void {
    const spent = performance.now() - this.#startedAt;
    if (spent < DELAY) return;
    const line = `${this.#text} (${Math.round(spent / 1000)} s)`;
    this.clear();
    process.stderr.write(line.slice(0, (process.stderr.columns || 80) - 1));
    this.#isShown = true;
  }
}

/** Removes the line of the current {@link Progress}, before something else is written to the terminal. */
export function clearProgress(): void {
  current?.clear();
}

/** Formats a number of items: `1 key`, `12,000 keys`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
