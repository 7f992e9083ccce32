import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { codeOf, createPrivately, objectIn } from "./private-files.ts";
import { identityOf, isIdentity, isThere } from "./process-identity.ts";

/** Who keeps a folder of spaces: of several managers, one starts and ends processes, and the others look on. */
export class DirectoryLock implements Disposable {
  readonly #path: string;
  readonly #mark: string = randomBytes(16).toString("hex");

  constructor(directory: string) {
    this.#path = join(directory, ".keeper");
  }

  /** Whether it is us, now: another may have taken us for dead. */
  get isOurs(): boolean {
    return markIn(this.#path) === this.#mark;
  }

  /** Becomes it, unless another is. What was a process that is no more is taken over. @returns whether it is us */
  async take(): Promise<boolean> {
    if (this.isOurs) return true;
    const own = await identityOf(process.pid);
    const text = JSON.stringify({ ...own, mark: this.#mark });
    if (createPrivately(this.#path, text)) return true;
    if (await isHeld(this.#path)) return false;
    return (await this.#clear()) && createPrivately(this.#path, text);
  }

  /** What is moved away is looked at once more: another may have been quicker. */
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
