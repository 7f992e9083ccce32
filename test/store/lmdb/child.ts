// Runs test/store/lmdb/child.fixture.ts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = join(import.meta.dirname, "child.fixture.ts");

/** The command that does a task with a store in a folder. */
export function command(task: string, dir: string): string[] {
  return [process.execPath, "--conditions=@virtual-workspaces/source", program, task, dir];
}

/** What became of a task. */
export interface Ended {
  /** What it said: a value for each line. */
  readonly said: unknown[];
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it, or lmdb, wrote to the error output. */
  readonly errors: string;
}

/** Does a task to its end. */
export async function run([program = "", ...args]: readonly string[]): Promise<Ended> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const said: unknown[] = [];
  for await (const line of createInterface(child.stdout)) said.push(JSON.parse(line));
  const [code, signal] = await ended;
  return { said, code, signal, errors };
}

/** A process that holds a store until it is killed. */
export class Holder implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, "exit");
  }

  static async of(dir: string): Promise<Holder> {
    const [program = "", ...args] = command("hold", dir);
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    const holder = new Holder(child);
    await once(child.stdout, "data");
    return holder;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }
}
