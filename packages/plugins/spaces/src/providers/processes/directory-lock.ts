import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { codeOf, createPrivately, objectIn } from "./private-files.ts";
import { identityOf, isIdentity, isThere } from "./process-identity.ts";

/** Lock of a directory of spaces. Of several managers, only its owner starts and stops processes; the others read. */
export class DirectoryLock implements Disposable {
  readonly #path: string;
  readonly #mark: string = randomBytes(16).toString("hex");

  constructor(directory: string) {
    this.#path = join(directory, ".keeper");
  }

  /** Whether this manager is still the owner. Another may have taken the lock over. */
  get isOurs(): boolean {
    return markIn(this.#path) === this.#mark;
  }

  /** Acquires the lock if it is free or its owner's process has ended. @returns whether this manager is the owner */
  async take(): Promise<boolean> {
    if (this.isOurs) return true;
    const own = await identityOf(process.pid);
    const text = JSON.stringify({ ...own, mark: this.#mark });
    if (createPrivately(this.#path, text)) return true;
    if (await isHeld(this.#path)) return false;
    return (await this.#clear()) && createPrivately(this.#path, text);
  }

  /** The moved lock is checked again, since another manager may have replaced it meanwhile. */
  async #clear(): Promise<boolean> {
    const aside = `${this.#path}.${this.#mark}`;
    try {
      renameSync(this.#path, aside);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return true;
      throw error;
    }
    const isAnother = await isHeld(aside);
    if (isAnother) createPrivately(this.#path, JSON.stringify(objectIn(aside)));
    rmSync(aside, { force: true });
    return !isAnother;
  }

  [Symbol.dispose](): void {
    if (this.isOurs) rmSync(this.#path, { force: true });
  }
}

async function isHeld(path: string): Promise<boolean> {
  const holder = objectIn(path);
  return holder !== undefined && isIdentity(holder) && (await isThere(holder));
}

const markIn = (path: string): unknown => objectIn(path)?.["mark"];
