import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError } from "../store-error.ts";
import { faultOf } from "./faults.ts";

/** Interval of checks while waiting, in ms. */
const PAUSE = 20;
/** Time for later claims to withdraw, in ms. They need a few. */
const PATIENCE = 2000;
/** Maximum length of a socket's path, in bytes; the system's limit is about 104. */
const LONGEST_PATH = 100;

/** Claim on a directory: a socket, which answers only while its process lives. */
interface Claim {
  readonly file: string;
  /** Time of the claim, in ms since 1970. */
  readonly since: number;
  readonly pid: number;
}

type HeldClaim = Claim & AsyncDisposable;

/**
 * Locks a directory until disposal or the end of the process. A process publishes its claim, then looks for others, so that
 * of two concurrent processes at most one finds none. A claim never outlives its process, however that ends. Process ids
 * would prove nothing, because they are reused.
 *
 * @param wait time for other processes to release the lock, in ms
 * @throws StoreError `Locked` that names the holder
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
  /** Path of the directory, short enough for sockets. */
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
      // The socket must answer before others can find it.
      const server = await listen(join(this.#short, `new-${file}`)).catch((error) => {
        throw noSocket(dirname(this.#dir), error);
      });
      if (this.#publish(file))
        return { file, since, pid: process.pid, [Symbol.asyncDispose]: () => this.#drop(file, server) };
      await close(server);
    }
  }

  /** @returns the claim that takes precedence; `undefined` if this process has the lock */
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
      // Another process removed it as stale before it answered.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  }

  /** Returns active claims and removes stale ones. Names are never reused. */
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
  // Otherwise the primary process of node:cluster would listen for a worker.
  server.listen({ path, exclusive: true }, () => resolve(server.unref()));
  return promise;
}

function noSocket(dir: string, error: Error): StoreError {
  const fault = faultOf(error, dir);
  if (fault.code !== "Unavailable") return fault;
  const remedy = "requires a local file system with Unix sockets: choose another directory";
  return new StoreError("Unavailable", `the store in ${dir} ${remedy} (${error.message})`, { cause: error });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

/** Only two errors prove that no process listens; after any other the claim counts as active. */
function isAlive(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once("connect", () => resolve(true));
  socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED" && code !== "ENOENT"));
  return promise.finally(() => socket.destroy());
}

function locked(dir: string, { pid, since }: Claim): StoreError {
  const who = pid === process.pid ? "this process" : `process ${pid}`;
  return new StoreError(
    "Locked",
    `the store in ${dir} is in use by ${who} since ${new Date(since).toISOString()}: ` +
      "stop it, or use another directory for this store",
  );
}
