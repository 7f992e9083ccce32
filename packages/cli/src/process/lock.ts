import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.ts";
import { readIfThere, writePrivately } from "./files.ts";

/** Who holds a state folder. */
export interface Holder {
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
  /** Where it serves, once it does. */
  readonly url?: string;
}

/** A state folder of our own, until disposed. */
export interface Lock extends Disposable {
  /** Notes where we serve, for those who find the folder taken. */
  serves(url: string): void;
}

/**
 * Takes a state folder. What a process left behind that is no more is taken over.
 *
 * @param flag by which another folder can be named
 * @throws Failure naming who holds the folder
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

/** A link is made whole or not at all, and never over something. */
function created(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a stale lock. What is moved away is looked at once more: another start may have been quicker. */
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
      `Stop it, or keep the state of this one elsewhere with ${flag} (if that process is something else, remove ${path})`,
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
 * A process that we may not signal is alive; one that is dead and not buried (a container may have no init) is not. Nor is
 * one that had our own number before us: in a container that is started again every process has the number of before.
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
