import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onAbort } from "@virtual-workspaces/transport";

/** A program that is run for its output. */
export interface ToolOptions {
  /** Name in messages. */
  readonly name: string;
  /** Name on the PATH, or a path. */
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Options of one run. */
export interface ToolRun {
  /** Arguments, given a temporary directory. */
  readonly args: (folder: string) => readonly string[];
  /** Time limit, ms. */
  readonly within: number;
  readonly signal: AbortSignal;
}

/** Maximum length of the output, bytes. Lists are long when each node includes its whole environment. */
const LONGEST = 4 * 1024 * 1024;
/** Maximum length of stderr that is kept, bytes. */
const KEPT = 64 * 1024;

/**
 * Runs a tool without a shell and returns its output. It leaves the user's kubeconfig alone, and a timeout kills it with its child
 * processes.
 * @throws Error with the tool's message; the signal's reason
 */
export async function printed(tool: ToolOptions, { args, within, signal }: ToolRun): Promise<string> {
  signal.throwIfAborted();
  const folder = mkdtempSync(join(tmpdir(), "spaces-"));
  const late = AbortSignal.timeout(within);
  const all = args(folder);
  try {
    const env = { ...tool.env, KUBECONFIG: join(folder, "kubeconfig") };
    const child = spawn(tool.command, all, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    return await outputOf(child, tool, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    throw new Error(`${tool.name}: ${all.slice(0, 2).join(" ")} did not finish within ${within / 1000} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function outputOf(child: ChildProcess, tool: ToolOptions, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const [out, complaints] = [new BoundedText(LONGEST), new BoundedText(KEPT)];
  const kill = (): void => killGroup(child);
  child.stdout?.on("data", (piece: Buffer) => out.take(piece) || kill());
  child.stderr?.on("data", (piece: Buffer) => void complaints.take(piece));
  child.once("error", (error) => reject(missing(error, tool)));
  child.once("close", (code, name) => {
    if (out.isFull) reject(new Error(`${tool.name}: output is longer than ${LONGEST} bytes`));
    else if (code === 0) resolve(out.text);
    else
      reject(
        new Error(`${tool.name}: ${complaintIn(complaints.text) ?? `it ended with ${name ?? `exit code ${code}`}`}`),
      );
  });
  using _ = onAbort(signal, kill);
  return await promise;
}

/** Kills the whole process group: a child process may keep the output open. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function missing(error: NodeJS.ErrnoException, { name, command }: ToolOptions): Error {
  if (error.code !== "ENOENT") return new Error(`${name}: cannot run ${command}: ${error.code}`);
  const where = command.includes("/") ? `${command} does not exist` : "command not found on the PATH of the manager";
  return new Error(`${name}: ${where}: install ${name}, or set \`command\``);
}

/** Text that is collected up to a limit. */
class BoundedText {
  readonly #most: number;
  readonly #pieces: Buffer[] = [];
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns whether there was room */
  take(piece: Buffer): boolean {
    const room = this.#most - this.#size;
    if (room > 0) this.#pieces.push(piece.subarray(0, room));
    this.#size += piece.length;
    return !this.isFull;
  }

  get isFull(): boolean {
    return this.#size > this.#most;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString("utf8");
  }
}

/** Maximum length of a tool's message that is shown, characters. */
const LONGEST_COMPLAINT = 300;
/** Matches Docker's statement of the cause, which tools surround with text of their own. */
const DOCKER =
  /(?:Cannot connect to the Docker daemon|permission denied while trying to connect to the [Dd]ocker)[^"\n\\]*/;
/** Colors and other terminal control sequences. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control characters
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g;
/** Prefixes of error lines. */
const COMPLAINT = /^(?:ERROR: |(?:ERRO|FATA)\[\d+\] |Error: |error: )/;

/** Returns the first error line of a tool, or `undefined`. */
function complaintIn(stderr: string): string | undefined {
  const text = stderr.replace(ESCAPES, "");
  const [docker] = DOCKER.exec(text) ?? [];
  if (docker !== undefined)
    return `${docker.trim()} Start Docker, or give the manager's user access to it`.slice(0, LONGEST_COMPLAINT);
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const line = lines.find((one) => COMPLAINT.test(one)) ?? lines[0];
  return line?.replace(COMPLAINT, "").slice(0, LONGEST_COMPLAINT);
}
