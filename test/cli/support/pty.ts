// A command in a pseudo-terminal of the system (`script`), whose screen is rendered as a terminal would.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import xterm from "@xterm/headless";

export interface PtyOptions {
  /** Command line for the shell. */
  readonly command: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly rows?: number;
  readonly columns?: number;
}

/** Whether the system supports this. */
export const HAS_PTY = process.platform === "linux";

export class Pty implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #screen: xterm.Terminal;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Set<() => void>();
  /** Raw output so far. */
  raw = "";

  constructor({ command, env = process.env, rows = 24, columns = 100 }: PtyOptions) {
    this.#screen = new xterm.Terminal({ rows, cols: columns, allowProposedApi: true });
    const line = `stty rows ${rows} cols ${columns}; tty; ${command}; echo "exit code $?"`;
    this.#child = spawn("script", ["-qec", line, "/dev/null"], {
      env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" },
    });
    this.#exited = once(this.#child, "exit");
    this.#child.stdout?.on("data", (piece: Buffer) => {
      this.raw += piece.toString("utf8");
      this.#screen.write(piece, () => {
        for (const look of [...this.#waiting]) look();
      });
    });
  }

  /** Text of the screen, without empty space at its end. */
  get screen(): string {
    const { active } = this.#screen.buffer;
    const lines = Array.from({ length: this.#screen.rows }, (_, at) =>
      (active.getLine(active.viewportY + at)?.translateToString(true) ?? "").trimEnd(),
    );
    return lines.join("\n").trimEnd();
  }

  /** Whether the alternate screen is active, as in full-screen programs. */
  get isOther(): boolean {
    return this.#screen.buffer.active.type === "alternate";
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Resolves when the screen shows this. */
  async shows(what: string | RegExp | ((screen: string) => boolean)): Promise<string> {
    const is = (): boolean => {
      const { screen } = this;
      if (typeof what === "function") return what(screen);
      return typeof what === "string" ? screen.includes(what) : what.test(screen);
    };
    const late = AbortSignal.timeout(20_000);
    while (!is()) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const failed = (): void => reject(new Error(`the screen does not show ${what}:\n${this.screen}`));
      late.addEventListener("abort", failed, { once: true });
      this.#waiting.add(resolve);
      await promise.finally(() => this.#waiting.delete(resolve));
      late.removeEventListener("abort", failed);
    }
    return this.screen;
  }

  /** Resizes the terminal, and signals the program. */
  async resize(rows: number, columns: number): Promise<void> {
    const [, device = ""] = /^(\/dev\/\S+)/m.exec(this.raw) ?? [];
    this.#screen.resize(columns, rows);
    const stty = spawn("stty", ["-F", device, "rows", String(rows), "cols", String(columns)]);
    await once(stty, "exit");
  }

  /** Resolves when the command has ended. @returns its exit code */
  async ended(): Promise<number> {
    const shown = await this.shows(/exit code \d+/);
    return Number(/exit code (\d+)/.exec(shown)?.[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
    this.#screen.dispose();
  }
}
