// Runs a real `virtual-workspaces` in its own folder, which is deleted afterwards.
import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { localNode, root } from "../../../tools/install.mjs";
import { run } from "../../../tools/run.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { CHILD_ENV } from "../../_support/child-env.ts";

const BINARY = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];

/** End of a command. */
export interface CliEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command until it exits. */
export function cli(...args: readonly string[]): Promise<CliEnd> {
  return startCli(...args).end;
}

/** Starts a command. */
export function startCli(...args: readonly string[]): { readonly child: ChildProcess; readonly end: Promise<CliEnd> } {
  const child = spawn(localNode, [...BINARY, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  return { child, end: endOf(child) };
}

async function endOf(child: ChildProcessByStdio<null, Readable, Readable>): Promise<CliEnd> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

export interface DevOptions {
  /** Files to write into the folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Existing folder, which is not deleted. @default a new one */
  readonly in?: string;
  /** Served paths in the folder. @default the folder itself */
  readonly paths?: readonly string[];
  /** Flags. @default any free port */
  readonly flags?: readonly string[];
  /** State folder: in the folder, or absolute. @default "state" */
  readonly state?: string;
  /** Whether the folder has `node_modules`, as a clone does. @default false: only this project's packages resolve */
  readonly installed?: boolean;
  /** PATH of the command. @default that of the test */
  readonly path?: string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to run `npm run dev`, which serves the examples of this clone. @default false */
  readonly npmRunDev?: boolean;
  /** Shell commands that mount file systems first, in their own mount and user namespaces. */
  readonly mounts?: string;
  /** Whether to use a process group, as in a terminal: `end` then signals the whole group. @default false */
  readonly terminal?: boolean;
}

/** Time limit on a busy machine, ms. */
const PATIENCE = 30_000;

/** A running `dev`, killed at the end of its `await using` block. */
export class Dev implements AsyncDisposable {
  /** Output so far, stdout and stderr. */
  text = "";
  /** Folder with the files, and with `state` unless that is elsewhere. */
  readonly folder: Tree;
  readonly state: string;
  readonly ended: Promise<{ readonly code: number | null }>;
  readonly pid: number;
  readonly #target: number;
  readonly #waiting = new Set<() => void>();
  #running = true;

  constructor(options: DevOptions = {}) {
    const { files = {}, paths = ["."], flags = ["--port", "0"], state = "state" } = options;
    this.folder = options.in === undefined ? tree(files) : { path: options.in, [Symbol.dispose]: () => undefined };
    this.state = resolve(this.folder.path, state);
    if (options.installed) symlinkSync(join(root, "node_modules"), join(this.folder.path, "node_modules"));
    const all = ["--dir", this.state, ...flags];
    const command = options.npmRunDev
      ? ["npm", "run", "dev", "--silent", "--", ...all]
      : [localNode, ...BINARY, "dev", ...paths, ...all];
    const [program = "", ...args] = options.mounts === undefined ? command : mounting(options.mounts, command);
    const env = {
      ...CHILD_ENV,
      HOME: this.folder.path,
      ...(options.path !== undefined && { PATH: options.path }),
      ...options.env,
    };
    const cwd = options.npmRunDev ? root : this.folder.path;
    const child = spawn(program, args, { cwd, env, detached: options.terminal ?? false });
    this.pid = child.pid ?? 0;
    this.#target = options.terminal ? -this.pid : this.pid;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.text += text;
        this.#wake();
      });
    }
    this.ended = once(child, "close").then(([code]: (number | null)[]) => {
      this.#running = false;
      this.#wake();
      return { code: code ?? null };
    });
  }

  /** Starts the command, and waits until it serves. */
  static async start(options: DevOptions = {}): Promise<Dev> {
    const dev = new Dev(options);
    await dev.until(/^(The user guest|No view has| {2}curl .*watch=true).*\n\n/m);
    return dev;
  }

  get url(): string {
    return / at (https:\S+)$/m.exec(this.text)?.[1] ?? "";
  }

  /** Returns the matching lines of the output so far. */
  lines(pattern: RegExp): string[] {
    return this.text.split("\n").filter((line) => pattern.test(line));
  }

  /** Home and kubeconfig for kubectl, without the cache of another test. */
  get home(): { readonly home: string; readonly kubeconfig: string } {
    return { home: this.state, kubeconfig: join(this.state, "admin.kubeconfig") };
  }

  save(file: string, text: string): void {
    writeFileSync(join(this.folder.path, file), text);
  }

  /** Waits until the output has this many matches. */
  async until(pattern: RegExp, times = 1): Promise<void> {
    const all = new RegExp(pattern.source, `g${pattern.flags}`);
    const late = setTimeout(() => this.#wake(), PATIENCE);
    const deadline = performance.now() + PATIENCE;
    try {
      while ((this.text.match(all)?.length ?? 0) < times) {
        if (!this.#running || performance.now() >= deadline)
          throw new Error(
            `${this.#running ? `within ${PATIENCE / 1000} s` : "before its end"} dev did not write ${pattern}:\n${this.text}`,
          );
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
      }
    } finally {
      clearTimeout(late);
    }
  }

  /** Sends a signal. Returns the exit code and the duration, ms. */
  async end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly took: number }> {
    const began = performance.now();
    process.kill(this.#target, signal);
    const { code } = await this.ended;
    return { code, took: performance.now() - began };
  }

  /** Returns the child processes. */
  async children(): Promise<number[]> {
    const { output } = await run("ps", ["-A", "-o", "pid=,ppid="]);
    const rows = output.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
    return rows.filter(([, parent]) => parent === this.pid).map(([child = 0]) => child);
  }

  /** Sends a GET as one of its users. Resolves at the end of the answer; rejects when it is cut short. */
  get(path: string, user = "admin"): Promise<Answer> {
    return this.send(`GET ${path}`, undefined, user);
  }

  /** Sends a request, `POST /path`, with a JSON body. */
  async send(line: string, sent?: unknown, user = "admin"): Promise<Answer> {
    const [method = "", path = ""] = line.split(" ");
    const read = (name: string): string => readFileSync(join(this.state, name), "utf8");
    const identity = user === "nobody" ? {} : { cert: read(`${user}.crt`), key: read(`${user}.key`) };
    const headers = sent === undefined ? {} : { "content-type": "application/json" };
    const options = { method, headers, ca: read("ca.crt"), ...identity, agent: false };
    const req = request(this.url + path, options).end(sent === undefined ? undefined : JSON.stringify(sent));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    let body = "";
    for await (const piece of res.setEncoding("utf8")) body += piece;
    return { code: res.statusCode ?? 0, headers: res.headers, body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running) process.kill(this.#target, "SIGKILL");
    await this.ended;
    this.folder[Symbol.dispose]();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Wraps a command with its mounts. Each process replaces itself with the next, so the ID stays. */
function mounting(mounts: string, command: readonly string[]): readonly string[] {
  return ["unshare", "--map-root-user", "--mount", "sh", "-ec", `${mounts}\nexec "$@"`, "sh", ...command];
}

/** For `before`: marks a suite with mounts as pending where mounts are not permitted. */
export function needsMounts(this: Mocha.Context): void {
  const [program = "", ...args] = mounting("mount -t tmpfs tmpfs /mnt", ["true"]);
  if (spawnSync(program, args).status !== 0) this.skip();
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}
