import { constants } from "node:os";
import { emitKeypressEvents, type Key } from "node:readline";
import { Failure } from "../../process/failure.ts";

/** Switches to the alternate screen without cursor and line wrapping, and back. */
const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const HOME = "\x1b[H";
const REST_OF_LINE = "\x1b[K";
const REST_OF_SCREEN = "\x1b[J";
const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
const SMALLEST = 10;

/** Callbacks for the terminal. */
export interface TerminalEvents {
  readonly key: (name: string) => void;
  readonly resize: () => void;
}

/** Controls the whole terminal until it is disposed, on every way out. */
export class Terminal implements Disposable {
  readonly #events: TerminalEvents;
  readonly #input = process.stdin;
  readonly #output = process.stdout;

  /** Switches screens. @throws Failure without a terminal, or on a small one */
  constructor(events: TerminalEvents) {
    if (!this.#input.isTTY || !this.#output.isTTY)
      throw new Failure("--interactive needs a terminal for input and output: remove it in scripts and pipes");
    if (this.height < SMALLEST)
      throw new Failure(
        `--interactive needs a terminal of at least ${SMALLEST} lines, and this one has ${this.height}: remove it`,
      );
    this.#events = events;
    emitKeypressEvents(this.#input);
    this.#input.on("keypress", this.#pressed);
    this.#output.on("resize", events.resize);
    for (const signal of SIGNALS) process.on(signal, this.#killed);
    process.on("SIGCONT", this.#continued);
    this.#take();
  }

  /** Height in lines. */
  get height(): number {
    return this.#output.rows;
  }

  /** Draws these lines from the top. */
  draw(lines: readonly string[]): void {
    this.#output.write(`${HOME}${lines.join(`${REST_OF_LINE}\r\n`)}${REST_OF_LINE}${REST_OF_SCREEN}`);
  }

  [Symbol.dispose](): void {
    this.#give();
    this.#input.off("keypress", this.#pressed);
    this.#output.off("resize", this.#events.resize);
    for (const signal of SIGNALS) process.off(signal, this.#killed);
    process.off("SIGCONT", this.#continued);
  }

  #take(): void {
    this.#input.setRawMode(true).resume();
    this.#output.write(ENTER);
  }

  #give(): void {
    this.#output.write(LEAVE);
    this.#input.setRawMode(false).pause();
  }

  readonly #pressed = (text: string | undefined, { name, ctrl, sequence }: Key): void => {
    if (ctrl === true && name === "z") {
      this.#give();
      process.kill(process.pid, "SIGSTOP");
    } else this.#events.key(ctrl === true ? `ctrl+${name}` : (name ?? text ?? sequence ?? ""));
  };

  readonly #continued = (): void => {
    this.#take();
    this.#events.resize();
  };

  readonly #killed = (signal: (typeof SIGNALS)[number]): void => {
    this[Symbol.dispose]();
    process.exit(128 + constants.signals[signal]);
  };
}
