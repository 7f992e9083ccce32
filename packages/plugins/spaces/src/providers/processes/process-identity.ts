import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Identity of a process that stays unique when its PID is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time as the operating system reports it. */
  readonly started: string;
}

/** Linux has `/proc`; other systems have `ps`. */
const hasFiles = (): boolean => existsSync("/proc/self/stat");

/** Returns the process with a PID, or `undefined` if it does not exist or is a zombie. @throws Error without `/proc` and `ps` */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  return hasFiles() ? identityInFiles(pid) : identityByPs(pid);
}

/** Reports whether the process still runs. @throws as {@link identityOf} */
export async function isThere({ pid, started }: ProcessIdentity): Promise<boolean> {
  return (await identityOf(pid))?.started === started;
}

function identityInFiles(pid: number): ProcessIdentity | undefined {
  const fields = statOf(pid);
  if (fields === undefined || isOver(fields[0])) return undefined;
  // Start times in ticks restart with the machine.
  const machine = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return { pid, started: `${machine} ${fields[19]}` };
}

/** Fields of `stat` after the name, which may contain anything: state, parent, group … */
function statOf(pid: number): readonly string[] | undefined {
  const text = readOr(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Implements {@link identityOf} without `/proc`. */
export async function identityByPs(pid: number): Promise<ProcessIdentity | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const args = ["-o", "stat=", "-o", "lstart=", "-p", String(pid)];
  execFile("ps", args, { env: { ...process.env, LC_ALL: "C" } }, (error, stdout) => {
    if (error === null || error.code === 1) resolve(stdout);
    else reject(new Error(`ps does not identify process ${pid}: the processes provider needs /proc or ps`));
  });
  const [state = "", ...started] = (await promise).trim().split(/\s+/);
  return state === "" || isOver(state) ? undefined : { pid, started: started.join(" ") };
}

const isOver = (state = ""): boolean => /^[ZXx]/.test(state);

/** Reports whether a value is a process identity. */
export function isIdentity(value: object): value is ProcessIdentity {
  return "pid" in value && Number.isInteger(value.pid) && "started" in value && typeof value.started === "string";
}

/**
 * Returns the group leader with this mark in its environment: a process whose manager crashed before it recorded the PID. `undefined` if
 * there is none, or without `/proc`.
 */
export function markedProcess(mark: string): ProcessIdentity | undefined {
  if (!hasFiles()) return undefined;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const environment = readOr(`/proc/${pid}/environ`);
    if (environment?.split("\0").includes(mark) !== true) continue;
    if (statOf(Number(pid))?.[2] === pid) return identityInFiles(Number(pid));
  }
  return undefined;
}

/** Files of other users are not readable, and those of an ended process are gone. */
function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
