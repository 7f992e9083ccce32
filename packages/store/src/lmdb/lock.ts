import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError } from "../store-error.ts";
import { faultOf } from "./faults.ts";

/** How often those who wait look again, ms. */
const PAUSE = 20;
/** How long those who claimed later have to give way, ms: they do so in a few. */
const PATIENCE = 2000;
/** The longest path of a socket is 104 bytes or little more. */
const LONGEST_PATH = 100;

/** A claim on a folder: a socket, which only the living answer. */
interface Claim {
  readonly file: string;
  /** ms since 1970. */
  readonly since: number;
  readonly pid: number;
}

type HeldClaim = Claim & AsyncDisposable;

/**
 * Takes a folder for this process until it is disposed or dead. A claim is published first, then the folder is looked
 * through for others: of two that come at once, at most one finds nobody. No claim outlives its process, however that
 * ends, and process numbers, which may be another's, prove nothing here.
 *
 * @param wait how long others have to let go, ms
 * @throws StoreError `Locked`, naming the one who has it
 */
export async function lock(dir: string, wait: number): Promise<AsyncDisposable> {
  const folder = new ClaimFolder(join(dir, "lock"));
  const deadline = Date.now() + wait;
  try {
    for (;;) {
      const own = await folder.claim();
      let other: Claim | undefined;
      try {
        other = await folder.rivalOf(own, Math.max(deadline, Date.now() + PATIENCE));
        if (other === undefined) return own;
      } catch (error) {
        await own[Symbol.asyncDispose]();
        throw error;
      }
      await own[Symbol.asyncDispose]();
      if (Date.now() >= deadline) throw locked(dir, other);
      await delay(PAUSE);
    }
  } finally {
    folder[Symbol.dispose]();
  }
}

class ClaimFolder implements Disposable {
  readonly #dir: string;
  /** The folder by a path short enough for sockets. */
  readonly #short: string;
  readonly #descriptor: number | undefined;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const long = Buffer.byteLength(dir) + 64 > LONGEST_PATH && process.platform === "linux";
    this.#descriptor = long ? openSync(dir, "r") : undefined;
    this.#short = long ? `/proc/self/fd/${this.#descriptor}` : dir;
  }

  async claim(): Promise<HeldClaim> {
    for (;;) {
      const since = Date.now();
      const file = `${since}-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
      // It answers before it can be found.
      const server = await listen(join(this.#short, `new-${file}`)).catch((error) => {
        throw noSocket(dirname(this.#dir), error);
      });
      if (this.#publish(file))
        return { file, since, pid: process.pid, [Symbol.asyncDispose]: () => this.#drop(file, server) };
      await close(server);
    }
  }

  /** @returns whom to give way to; `undefined`: the folder is ours */
  async rivalOf(own: Claim, until: number): Promise<Claim | undefined> {
    for (;;) {
      const [first] = (await this.#others(own)).sort(byAge);
      if (first === undefined) return undefined;
      if (byAge(first, own) < 0 || Date.now() >= until) return first;
      await delay(PAUSE);
    }
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  #publish(file: string): boolean {
    try {
      renameSync(join(this.#dir, `new-${file}`), join(this.#dir, file));
      return true;
    } catch (error) {
      // Whoever cleaned up took it for dead, between its two first steps.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  }

  /** The living; what the dead left is removed: no name is used twice. */
  async #others(own: Claim): Promise<Claim[]> {
    const living: Claim[] = [];
    for (const entry of readdirSync(this.#dir, { withFileTypes: true })) {
      const file = entry.name;
      if (file === own.file || entry.isDirectory()) continue;
      const [, begun, since, pid] = /^(new-)?(\d+)-(\d+)-\w+$/.exec(file) ?? [];
      if (since === undefined) continue;
      if (!(await isAlive(join(this.#short, file)))) rmSync(join(this.#dir, file), { force: true });
      else if (begun === undefined) living.push({ file, since: Number(since), pid: Number(pid) });
    }
    return living;
  }

  async #drop(file: string, server: Server): Promise<void> {
    rmSync(join(this.#dir, file), { force: true });
    await close(server);
  }
}

function byAge(a: Claim, b: Claim): number {
  return a.since - b.since || (a.file < b.file ? -1 : 1);
}

function listen(path: string): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const server = createServer((socket) => socket.destroy());
  server.once("error", reject);
  // In a worker of node:cluster another process would listen otherwise.
  server.listen({ path, exclusive: true }, () => resolve(server.unref()));
  return promise;
}

function noSocket(dir: string, error: Error): StoreError {
  const fault = faultOf(error, dir);
  if (fault.code !== "Unavailable") return fault;
  const remedy = "needs a file system of this machine that knows sockets: choose another directory";
  return new StoreError("Unavailable", `the store in ${dir} ${remedy} (${error.message})`, { cause: error });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

/** Only two answers mean that nobody is there; any other trouble is somebody's. */
function isAlive(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once("connect", () => resolve(true));
  socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED" && code !== "ENOENT"));
  return promise.finally(() => socket.destroy());
}

function locked(dir: string, { pid, since }: Claim): StoreError {
  const who = pid === process.pid ? "this process already" : `process ${pid}`;
  return new StoreError(
    "Locked",
    `the store in ${dir} is in use by ${who}, since ${new Date(since).toISOString()}: ` +
      "stop it, or keep the data of this one in another directory",
  );
}
