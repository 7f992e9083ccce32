// Runs test/store/lmdb/child.fixture.ts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = join(import.meta.dirname, "child.fixture.ts");

/** Returns the command of a task with a store in a directory. */
export function command(task: string, dir: string): string[] {
  return [process.execPath, "--conditions=@virtual-workspaces/source", program, task, dir];
}

/** Result of a task. */
export interface Ended {
  /** Printed values, one per line. */
  readonly said: unknown[];
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Error output of the task, or LMDB. */
  readonly errors: string;
}

/** Runs a task and waits for its exit. */
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

/** Process that holds a store until it is killed. */
export class Holder implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** Output when it had opened the store. */
  readonly said: string;

  private constructor(child: ChildProcess, said: string) {
    this.#child = child;
    this.#ended = once(child, "exit");
    this.said = said;
  }

  static async of(dir: string, task: "hold" | "cluster" = "hold"): Promise<Holder> {
    const [program = "", ...args] = command(task, dir);
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [said] = await once(child.stdout, "data");
    return new Holder(child, String(said));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }
}
