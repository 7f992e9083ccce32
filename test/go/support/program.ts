// Runs a program for a test, which waits for its lines with a deadline.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { CHILD_ENV } from "../../_support/child-env.ts";

/** Exit of a program. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Environment variables, with the working directory in `cwd`. @default that of the tests */
export type ProgramOptions = Readonly<Record<string, string>> & { readonly cwd?: string };

/** Running program, killed at the end of its `await using` block. */
export class Program implements AsyncDisposable {
  /** Lines on stdout so far. */
  readonly lines: string[] = [];
  readonly ended: Promise<Ended>;
  /** Output on stderr so far. */
  stderr = "";
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Set<() => void>();
  #running = true;

  constructor(file: string, args: readonly string[], { cwd, ...env }: ProgramOptions = {}) {
    const child = spawn(file, args, { env: { ...CHILD_ENV, ...env }, ...(cwd !== undefined && { cwd }) });
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    createInterface(child.stdout).on("line", (line) => {
      this.lines.push(line);
      this.heard(line);
      this.#wake();
    });
    this.ended = once(child, "close").then(([code, signal]: (number | NodeJS.Signals | null)[]) => {
      this.#running = false;
      this.#wake();
      return { code, signal } as Ended;
    });
    child.on("error", () => undefined); // `close` follows
  }

  /** Called for each line; subclasses override it. */
  protected heard(_line: string): void {}

  get running(): boolean {
    return this.#running;
  }

  /** Writes a line to stdin. */
  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Returns the first value of `look` other than `undefined` and `false`, now or after more output. */
  async until<T>(what: string, look: () => T | undefined | false, within = 10_000): Promise<T> {
    const deadline = performance.now() + within;
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      if (!this.#running) throw new Error(`the program exited before ${what}\n${this.#tail()}`);
      if (performance.now() >= deadline) throw new Error(`no ${what} within ${within} ms\n${this.#tail()}`);
      await this.#more(deadline - performance.now());
    }
  }

  /** Process id; 0 if the program could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Closes stdin. */
  endInput(): void {
    this.#child.stdin.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running) this.#child.kill("SIGKILL");
    await this.ended;
  }

  #more(within: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, within);
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  #tail(): string {
    return [...this.lines.slice(-30), this.stderr.slice(-2000)].join("\n");
  }
}
