import { closeSync, copyFileSync, existsSync, openSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigContent } from "@virtual-workspaces/client";
import { Failure } from "../process/failure.ts";
import { readIfThere, writePrivately } from "../process/files.ts";
import { KubeconfigFile, type ListName } from "./kubeconfig-file.ts";

/** An entry of a kubeconfig, and where it is written. */
export interface Entry {
  readonly value: JsonObject;
  readonly file: KubeconfigFile;
}

/** Fields that are paths, which begin in the folder of their file. */
const PATHS: readonly string[] = ["certificate-authority"];

/** The kubeconfigs that kubectl would read, to be changed: of several the first that has an entry counts. */
export class Kubeconfig {
  readonly #files: readonly KubeconfigFile[];
  /** The one that is used, as the command line has it, or the files. */
  readonly context: string;

  private constructor(files: readonly KubeconfigFile[], context: string | undefined) {
    this.#files = files;
    this.context = context ?? files.map(({ content }) => content["current-context"]).find(isName) ?? "";
  }

  /**
   * @param file this one and no other; default: those of `KUBECONFIG`, else `~/.kube/config`
   * @throws Failure on one that cannot be read
   */
  static read(file: string | undefined, context: string | undefined): Kubeconfig {
    const listed = (process.env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
    const usual = [join(process.env["HOME"] ?? homedir(), ".kube", "config")];
    const paths = file !== undefined ? [file] : listed.length > 0 ? [...new Set(listed)] : usual;
    if (file !== undefined && !existsSync(file)) throw new Failure(`${file} cannot be read: there is no such file`);
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

  /** Writes an entry where one of that name is, else into the file that it comes from. */
  set(list: ListName, name: string, { value, file }: Entry): void {
    const into = this.find(list, name)?.file ?? file;
    into.setEntry(list, name, into === file ? value : elsewhere(value, file));
  }

  /** Which context is used from now on: the first file's word counts. */
  use(name: string): void {
    const [first] = this.#files;
    if (first !== undefined) first.currentContext = name;
  }

  /** @throws Failure */
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
    throw new Failure(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** A value for another file: its relative paths would begin elsewhere. */
function elsewhere(value: JsonObject, { path }: KubeconfigFile): JsonObject {
  const moved = PATHS.flatMap((name) => {
    const given = value[name];
    return isName(given) && !isAbsolute(given) ? [[name, join(dirname(path), given)]] : [];
  });
  return { ...value, ...(Object.fromEntries(moved) as JsonObject) };
}

/** How long to wait for another program that writes, ms. */
const PATIENCE = 2000;
const PAUSE = 50;

/**
 * Writes what was changed: all or nothing of each file, never over what somebody else has written meanwhile, and with a copy of how
 * it was beside it, `<file>.before-ws`. Others are kept out as kubectl does it, by `<file>.lock`.
 *
 * @throws Failure when a file is locked, was changed meanwhile, or cannot be written
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
      if (code !== "EEXIST") throw new Failure(`${lock} cannot be made: ${code}`);
      if (performance.now() > deadline)
        throw new Failure(`${path} is locked by another program: if none writes it, remove ${lock}`);
    }
}

function checkUnchanged({ path, text }: KubeconfigFile): void {
  if (readFileSync(path, "utf8") !== text)
    throw new Failure(`${path} was changed by another program meanwhile: nothing was written, try again`);
}

function replace(file: KubeconfigFile): void {
  // What a link leads to is replaced, and not the link.
  const path = realpathSync(file.path);
  try {
    copyFileSync(path, `${path}.before-ws`);
    writePrivately(path, file.toString(), statSync(path).mode & 0o777);
  } catch (error) {
    throw new Failure(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
