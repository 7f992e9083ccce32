import { readFile, stat } from "node:fs/promises";
import { KubeconfigError } from "./config.ts";

/** How long a file is taken to be as it was, ms. */
const FRESH = 1_000;

/** A file that somebody replaces from time to time, as tokens and certificates of pods are. */
export class FreshFile {
  readonly #path: string;
  readonly #at: string;
  #checked = Number.NEGATIVE_INFINITY;
  #seen = "";
  #text: string | undefined;

  /** @param at the field that names it */
  constructor(path: string, at: string) {
    this.#path = path;
    this.#at = at;
  }

  /** As it is now, or was a second ago. A file that has gone for now is as it was last. @throws KubeconfigError when it has never been read */
  async text(): Promise<string> {
    const now = performance.now();
    if (this.#text !== undefined && now - this.#checked < FRESH) return this.#text;
    try {
      // Mounted secrets are links to folders that are swapped: the inode tells.
      const { ino, mtimeMs, size } = await stat(this.#path);
      const seen = `${ino} ${mtimeMs} ${size}`;
      if (this.#text === undefined || seen !== this.#seen) this.#text = await readFile(this.#path, "utf8");
      this.#seen = seen;
      this.#checked = now;
      return this.#text;
    } catch (cause) {
      if (this.#text !== undefined) return this.#text;
      const { code } = cause as NodeJS.ErrnoException;
      throw new KubeconfigError(`${this.#at}: ${this.#path} cannot be read: ${code}`, { cause });
    }
  }

  /** It is read again, whatever it looks like. */
  forget(): void {
    this.#checked = Number.NEGATIVE_INFINITY;
    this.#seen = "";
  }
}
