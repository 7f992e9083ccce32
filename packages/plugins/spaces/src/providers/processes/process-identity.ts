import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process, and none that gets its number later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, as the machine says it. */
  readonly started: string;
}

/** Linux has all of it in files; elsewhere `ps` is asked. */
const hasFiles = (): boolean => existsSync("/proc/self/stat");

/** The process of a number; `undefined`: there is none, or it has ended and is only not buried. @throws Error where nobody tells */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  return hasFiles() ? identityInFiles(pid) : identityByPs(pid);
}

/** Whether it is still there. @throws as {@link identityOf} */
export async function isThere({ pid, started }: ProcessIdentity): Promise<boolean> {
  return (await identityOf(pid))?.started === started;
}

function identityInFiles(pid: number): ProcessIdentity | undefined {
  const fields = statOf(pid);
  if (fields === undefined || isOver(fields[0])) return undefined;
  // Ticks begin anew with the machine.
  const machine = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return { pid, started: `${machine} ${fields[19]}` };
}

/** The fields of its `stat` behind its name, which may have anything in it: state, parent, group … */
function statOf(pid: number): readonly string[] | undefined {
  const text = readOr(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** As {@link identityOf}, where there are no such files. */
export async function identityByPs(pid: number): Promise<ProcessIdentity | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const args = ["-o", "stat=", "-o", "lstart=", "-p", String(pid)];
  execFile("ps", args, { env: { ...process.env, LC_ALL: "C" } }, (error, stdout) => {
    if (error === null || error.code === 1) resolve(stdout);
    else reject(new Error(`ps does not say which process ${pid} is: processes need /proc or ps to be told apart`));
  });
  const [state = "", ...started] = (await promise).trim().split(/\s+/);
  return state === "" || isOver(state) ? undefined : { pid, started: started.join(" ") };
}

const isOver = (state = ""): boolean => /^[ZXx]/.test(state);

/** Whether that says which process. */
export function isIdentity(value: object): value is ProcessIdentity {
  return "pid" in value && Number.isInteger(value.pid) && "started" in value && typeof value.started === "string";
}

/** The process that leads its group, and has this in its environment: one that was started, and not yet noted when whoever started it was killed. `undefined` also where nobody tells. */
export function markedProcess(mark: string): ProcessIdentity | undefined {
  if (!hasFiles()) return undefined;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const environment = readOr(`/proc/${pid}/environ`);
    if (environment?.split("\0").includes(mark) !== true) continue;
    if (statOf(Number(pid))?.[2] === pid) return identityInFiles(Number(pid));
  }
  return undefined;
}

/** Others' files are not ours to read, and those of a process that ends are gone. */
function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
