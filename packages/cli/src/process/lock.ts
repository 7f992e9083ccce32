import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.ts";
import { readIfThere, writePrivately } from "./files.ts";

/** The process that holds a state folder. */
export interface Holder {
  readonly pid: number;
  /** Start of the process, ISO 8601. */
  readonly since: string;
  /** URL of the server, once it serves. */
  readonly url?: string;
}

/** A locked state folder, until disposed. */
export interface Lock extends Disposable {
  /** Records the server's URL, for the error message of other processes. */
  serves(url: string): void;
}

/**
 * Locks a state folder, and takes over the lock of a process that has ended.
 *
 * @param flag selects another folder
 * @throws Failure naming the holder of the folder
 */
export function acquire(dir: string, flag = "--dir"): Lock {
  const path = join(dir, "lock");
  const own: Holder = { pid: process.pid, since: new Date().toISOString() };
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, JSON.stringify(own), { mode: 0o600 });
  try {
    while (!created(beside, path)) takeOver(path, { dir, flag });
  } finally {
    rmSync(beside, { force: true });
  }
  return {
    serves: (url) => writePrivately(path, JSON.stringify({ ...own, url })),
    [Symbol.dispose]: () => {
      if (holderOf(readIfThere(path))?.pid === own.pid) rmSync(path, { force: true });
    },
  };
}

/** A link is created completely or not at all, and never replaces a file. */
function created(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a stale lock. Checks it again after the move: another process may have replaced it. */
function takeOver(path: string, place: LockedFolder): void {
  refuseIfHeld(path, place);
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const holder = holderOf(readIfThere(aside));
  if (holder !== undefined && isAlive(holder)) created(aside, path);
  rmSync(aside, { force: true });
}

interface LockedFolder {
  readonly dir: string;
  readonly flag: string;
}

function refuseIfHeld(path: string, { dir, flag }: LockedFolder): void {
  const holder = holderOf(readIfThere(path));
  if (holder === undefined || !isAlive(holder)) return;
  const where = holder.url === undefined ? "" : ` at ${holder.url}`;
  throw new Failure(
    `${dir} is in use by process ${holder.pid}, which serves${where} since ${holder.since}. ` +
      `Stop that process, or use another folder with ${flag} (if it is an unrelated process, remove ${path})`,
  );
}

function holderOf(text: string | undefined): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(text ?? "");
    return typeof holder === "object" && holder !== null && "pid" in holder ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether the holder is alive. A process that this one may not signal is alive; a zombie is not (a container may have
 * no init). A holder with this process's own ID is not either: in a restarted container, processes get the same IDs again.
 */
function isAlive({ pid, since }: Holder): boolean {
  if (pid === process.pid && Date.parse(since) < performance.timeOrigin) return false;
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s+Z/m.test(readIfThere(`/proc/${pid}/status`) ?? "");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
