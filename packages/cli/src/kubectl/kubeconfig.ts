import { closeSync, copyFileSync, existsSync, openSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigContent } from "@virtual-workspaces/client";
import { Failure } from "../process/failure.ts";
import { kubeconfigPaths, readIfThere, writePrivately } from "../process/files.ts";
import { KubeconfigFile, type ListName } from "./kubeconfig-file.ts";

/** An entry of a kubeconfig, and its file. */
export interface Entry {
  readonly value: JsonObject;
  readonly file: KubeconfigFile;
}

/** Fields with paths, which are relative to their file. */
const PATHS: readonly string[] = ["certificate-authority"];

/** The kubeconfig files that kubectl reads, for changes. The first file with an entry wins. */
export class Kubeconfig {
  readonly #files: readonly KubeconfigFile[];
  /** Current context: from the command line, or else from the files. */
  readonly context: string;

  private constructor(files: readonly KubeconfigFile[], context: string | undefined) {
    this.#files = files;
    this.context = context ?? files.map(({ content }) => content["current-context"]).find(isName) ?? "";
  }

  /**
   * Reads the files.
   * @param file the only file to read; by default those of `KUBECONFIG`, or else `~/.kube/config`
   * @throws Failure when a file cannot be read
   */
  static read(file: string | undefined, context: string | undefined): Kubeconfig {
    const paths = file !== undefined ? [file] : kubeconfigPaths();
    if (file !== undefined && !existsSync(file)) throw new Failure(`cannot read ${file}: the file does not exist`);
    return new Kubeconfig(paths.flatMap(fileAt), context);
  }

  get contents(): readonly KubeconfigContent[] {
    return this.#files.map(({ path, content }) => ({ file: path, content }));
  }

  /** Names of all contexts, in the order of the files. */
  get contexts(): readonly string[] {
    return [...new Set(this.#files.flatMap((file) => file.names("contexts")))];
  }

  find(list: ListName, name: string): Entry | undefined {
    for (const file of this.#files) {
      const value = file.entry(list, name);
      if (value !== undefined) return { value, file };
    }
    return undefined;
  }

  /** Writes an entry: to the file that has one of that name, or else to the file that it comes from. */
  set(list: ListName, name: string, { value, file }: Entry): void {
    const into = this.find(list, name)?.file ?? file;
    into.setEntry(list, name, into === file ? value : elsewhere(value, file));
  }

  /** Sets the current context. The value in the first file wins. */
  use(name: string): void {
    const [first] = this.#files;
    if (first !== undefined) first.currentContext = name;
  }

  /** Writes the changes. @throws Failure */
  save(): Promise<void> {
    return writeChanged(this.#files);
  }
}

function fileAt(path: string): KubeconfigFile[] {
  try {
    const text = readIfThere(path);
    return text === undefined ? [] : [new KubeconfigFile(path, text)];
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Returns a value for another file, with absolute paths. */
function elsewhere(value: JsonObject, { path }: KubeconfigFile): JsonObject {
  const moved = PATHS.flatMap((name) => {
    const given = value[name];
    return isName(given) && !isAbsolute(given) ? [[name, join(dirname(path), given)]] : [];
  });
  return { ...value, ...(Object.fromEntries(moved) as JsonObject) };
}

/** Time to wait for the lock of another program, ms. */
const PATIENCE = 2000;
const PAUSE = 50;

/**
 * Writes the changed files. Each is replaced as a whole, never over a concurrent change, and its previous version is kept as
 * `<file>.before-ws`. The lock `<file>.lock` is kubectl's.
 *
 * @throws Failure when a file is locked, has changed since it was read, or cannot be written
 */
async function writeChanged(files: readonly KubeconfigFile[]): Promise<void> {
  const changed = files.filter((file) => file.changed).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const locks: string[] = [];
  try {
    for (const { path } of changed) locks.push(await locked(path));
    for (const file of changed) checkUnchanged(file);
    for (const file of changed) replace(file);
  } finally {
    for (const lock of locks) rmSync(lock, { force: true });
  }
}

async function locked(path: string): Promise<string> {
  const lock = `${path}.lock`;
  for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE))
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return lock;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw new Failure(`cannot create ${lock}: ${code}`);
      if (performance.now() > deadline)
        throw new Failure(`${path} is locked by another program: if none is running, remove ${lock}`);
    }
}

function checkUnchanged({ path, text }: KubeconfigFile): void {
  if (readFileSync(path, "utf8") !== text)
    throw new Failure(`another program has changed ${path}: nothing was written, try again`);
}

function replace(file: KubeconfigFile): void {
  // Replaces the target of a symbolic link, not the link.
  const path = realpathSync(file.path);
  try {
    copyFileSync(path, `${path}.before-ws`);
    writePrivately(path, file.toString(), statSync(path).mode & 0o777);
  } catch (error) {
    throw new Failure(`cannot write ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}
