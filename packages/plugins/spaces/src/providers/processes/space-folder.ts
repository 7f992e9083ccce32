import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { nameProblems } from "@virtual-workspaces/apimachinery";
import { codeOf, objectIn, readIfThere, writePrivately } from "./private-files.ts";
import { isIdentity, type ProcessIdentity } from "./process-identity.ts";

/** Prefixes of directories that are being created or deleted. No space name starts with them. */
const [COMING, GOING] = [".new-", ".gone-"];

/** Recorded process of a space. `starting` is recorded before its PID is known. */
export type NotedProcess = ProcessIdentity | "starting" | undefined;

/**
 * Directory of a space that is a process, with access for its owner only. Its file `space.json` marks it as a space of that provider under
 * that name, so a copy elsewhere is no space: two managers would otherwise own one process.
 */
export class SpaceFolder {
  readonly name: string;
  /** Identifier: a space that is created again under the same name gets another one. */
  readonly id: string;
  readonly path: string;
  /** Directory of the server's data. */
  readonly server: string;

  private constructor(directory: string, name: string, id: string) {
    this.name = name;
    this.id = id;
    this.path = join(directory, name);
    this.server = join(this.path, "server");
  }

  /** Returns all spaces of a provider's directory. */
  static in(directory: string): readonly SpaceFolder[] {
    return readdirSync(directory).flatMap((name) => SpaceFolder.at(directory, name) ?? []);
  }

  /** Returns the number of spaces of all providers in a directory. */
  static countAll(root: string): number {
    const providers = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return providers.reduce((sum, { name }) => sum + SpaceFolder.in(join(root, name)).length, 0);
  }

  /** Returns the space with a name, or `undefined` if it does not exist or is something else. */
  static at(directory: string, name: string): SpaceFolder | undefined {
    if (nameProblems(name).length > 0) return undefined;
    const { id, space } = objectIn(join(directory, name, "space.json")) ?? {};
    if (space !== markOf(directory, name)) return undefined;
    return typeof id === "string" && id !== "" ? new SpaceFolder(directory, name, id) : undefined;
  }

  /** Creates a space atomically unless it exists. @throws Error on an invalid name, or if something else has that name */
  static make(directory: string, name: string): void {
    checkName(name);
    const coming = mkdtempSync(join(directory, COMING));
    try {
      mkdirSync(join(coming, "server"), { mode: 0o700 });
      const mark = { id: randomBytes(16).toString("hex"), space: markOf(directory, name) };
      writePrivately(join(coming, "space.json"), JSON.stringify(mark));
      renameSync(coming, join(directory, name));
    } catch (error) {
      rmSync(coming, { recursive: true, force: true });
      if (!["EEXIST", "ENOTEMPTY", "ENOTDIR"].includes(codeOf(error))) throw error;
      if (SpaceFolder.at(directory, name) === undefined)
        throw new Error(`${name} in the directory of the provider is not a space: move it away`);
    }
  }

  /** Removes directories whose creation or deletion was interrupted by a crash. */
  static sweep(directory: string): void {
    for (const name of readdirSync(directory))
      if (name.startsWith(COMING) || name.startsWith(GOING))
        rmSync(join(directory, name), { recursive: true, force: true });
  }

  get process(): NotedProcess {
    const noted = objectIn(join(this.path, "process.json"));
    if (noted === undefined) return undefined;
    return isIdentity(noted) ? noted : "starting";
  }

  note(process: NotedProcess): void {
    const path = join(this.path, "process.json");
    if (process === undefined) rmSync(path, { force: true });
    else writePrivately(path, JSON.stringify(process === "starting" ? { starting: true } : process));
  }

  /** Whether the space is being deleted. */
  get isLeaving(): boolean {
    return existsSync(join(this.path, "leaving"));
  }

  leave(): void {
    writeFileSync(join(this.path, "leaving"), "", { mode: 0o600 });
  }

  /** Deletes the space. Its name is free at once, even if the deletion of its files fails. */
  remove(): void {
    const going = join(this.path, "..", `${GOING}${this.id}`);
    renameSync(this.path, going);
    rmSync(going, { recursive: true, force: true });
  }

  /** Returns the kubeconfig that the server wrote to that file. Security: it contains credentials. */
  kubeconfig(file: string): string | undefined {
    return readIfThere(join(this.server, file));
  }

  /** Opens the log file of a new process and keeps that of the previous one. */
  log(): number {
    const path = join(this.path, "log");
    if (existsSync(path)) renameSync(path, `${path}.old`);
    return openSync(path, "a", 0o600);
  }
}

/** @throws Error on a name that is no name of a directory */
export function checkName(name: string): void {
  const [problem] = nameProblems(name);
  if (problem !== undefined) throw new Error(`metadata.name: invalid name of a directory, ${problem}`);
}

const markOf = (directory: string, name: string): string => `${basename(directory)}/${name}`;
