import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onAbort } from "@virtual-workspaces/transport";

/** A program that is run for what it prints. */
export interface ToolOptions {
  /** What it is called to people. */
  readonly name: string;
  /** A name on the PATH, or a path. */
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How it is run once. */
export interface ToolRun {
  /** What it is told: with a folder for files that are of no use behind it. */
  readonly args: (folder: string) => readonly string[];
  /** How long it may take, ms. */
  readonly within: number;
  readonly signal: AbortSignal;
}

/** How much it may print, bytes: lists are long where each node has its whole environment. */
const LONGEST = 4 * 1024 * 1024;
/** How much is kept of what it complains of, bytes. */
const KEPT = 64 * 1024;

/** What it prints. No shell has a say, and nobody's kubeconfig is read or written. What it has started goes with it when it takes too long. @throws Error with its words; the signal's reason */
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
    throw new Error(`${tool.name}: ${all.slice(0, 2).join(" ")} has not ended within ${within / 1000} s`);
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
    if (out.isFull) reject(new Error(`${tool.name}: it prints more than ${LONGEST} bytes`));
    else if (code === 0) resolve(out.text);
    else
      reject(
        new Error(`${tool.name}: ${complaintIn(complaints.text) ?? `it ended with ${name ?? `exit code ${code}`}`}`),
      );
  });
  using _ = onAbort(signal, kill);
  return await promise;
}

/** With all that it has started, which may hold on to what it prints to. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function missing(error: NodeJS.ErrnoException, { name, command }: ToolOptions): Error {
  if (error.code !== "ENOENT") return new Error(`${name}: ${command} cannot be run: ${error.code}`);
  const where = command.includes("/")
    ? `there is no ${command}`
    : "there is no such command on the PATH of the manager";
  return new Error(`${name}: ${where}: install ${name}, or say where it is in \`command\``);
}

/** Text that comes in pieces, as far as there is room. */
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

/** The longest that is told of what a tool complains of, characters. */
const LONGEST_COMPLAINT = 300;
/** What says the cause, wherever it stands: its own words of it are many. */
const DOCKER =
  /(?:Cannot connect to the Docker daemon|permission denied while trying to connect to the [Dd]ocker)[^"\n\\]*/;
/** Colours, and other things that terminals do. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control characters
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g;
/** How tools begin lines that say what is wrong. */
const COMPLAINT = /^(?:ERROR: |(?:ERRO|FATA)\[\d+\] |Error: |error: )/;

/** What a tool says is wrong, for people: the first line of it. `undefined`: nothing. */
function complaintIn(stderr: string): string | undefined {
  const text = stderr.replace(ESCAPES, "");
  const [docker] = DOCKER.exec(text) ?? [];
  if (docker !== undefined)
    return `${docker.trim()} Start it, or let the manager's user use it`.slice(0, LONGEST_COMPLAINT);
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const line = lines.find((one) => COMPLAINT.test(one)) ?? lines[0];
  return line?.replace(COMPLAINT, "").slice(0, LONGEST_COMPLAINT);
}
