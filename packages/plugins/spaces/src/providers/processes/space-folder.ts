import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nameProblems } from "@virtual-workspaces/apimachinery";
import { codeOf, objectIn, readIfThere, writePrivately } from "./private-files.ts";
import { isIdentity, type ProcessIdentity } from "./process-identity.ts";

/** What begins so is being made, or is going: no name of a space does. */
const [COMING, GOING] = [".new-", ".gone-"];

/** The process of a space, as it was noted last: `starting` is before anybody knows which it is. */
export type NotedProcess = ProcessIdentity | "starting" | undefined;

/** What there is of a space that is a process: a folder for its owner alone. */
export class SpaceFolder {
  readonly name: string;
  /** Which one it is: one that is made again by its name has another. */
  readonly id: string;
  readonly path: string;
  /** Where its server keeps what it has. */
  readonly server: string;

  private constructor(directory: string, name: string, id: string) {
    this.name = name;
    this.id = id;
    this.path = join(directory, name);
    this.server = join(this.path, "server");
  }

  /** All that there are. */
  static in(directory: string): readonly SpaceFolder[] {
    return readdirSync(directory).flatMap((name) => SpaceFolder.at(directory, name) ?? []);
  }

  /** The one of a name; `undefined`: there is none, or something else. */
  static at(directory: string, name: string): SpaceFolder | undefined {
    if (nameProblems(name).length > 0) return undefined;
    const id = objectIn(join(directory, name, "space.json"))?.["id"];
    return typeof id === "string" && id !== "" ? new SpaceFolder(directory, name, id) : undefined;
  }

  /** Makes one, whole or not at all, unless it is there. @throws Error on a name that leads elsewhere, or to something else */
  static make(directory: string, name: string): void {
    const [problem] = nameProblems(name);
    if (problem !== undefined) throw new Error(`metadata.name: no folder is called so, ${problem}`);
    const coming = mkdtempSync(join(directory, COMING));
    try {
      mkdirSync(join(coming, "server"), { mode: 0o700 });
      writePrivately(join(coming, "space.json"), JSON.stringify({ id: randomBytes(16).toString("hex") }));
      renameSync(coming, join(directory, name));
    } catch (error) {
      rmSync(coming, { recursive: true, force: true });
      if (!["EEXIST", "ENOTEMPTY", "ENOTDIR"].includes(codeOf(error))) throw error;
      if (SpaceFolder.at(directory, name) === undefined)
        throw new Error(`there is a ${name} in the folder of its provider that is no space: move it away`);
    }
  }

  /** Takes away what was being made, or going, when whoever did it was killed. */
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

  /** Whether it is to go. */
  get isLeaving(): boolean {
    return existsSync(join(this.path, "leaving"));
  }

  leave(): void {
    writeFileSync(join(this.path, "leaving"), "", { mode: 0o600 });
  }

  /** Its name is free from then on, whatever is left of it. */
  remove(): void {
    const going = join(this.path, "..", `${GOING}${this.id}`);
    renameSync(this.path, going);
    rmSync(going, { recursive: true, force: true });
  }

  /** What its server has written into that file. Secret. */
  kubeconfig(file: string): string | undefined {
    return readIfThere(join(this.server, file));
  }

  /** Opens a file for what its process prints; that of the process before is kept beside it. */
  log(): number {
    const path = join(this.path, "log");
    if (existsSync(path)) renameSync(path, `${path}.old`);
    return openSync(path, "a", 0o600);
  }
}
