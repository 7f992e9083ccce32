import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** How often files are looked at whatever their folders tell, ms: as often as Kubernetes does. */
const POLL = 60_000;
/** How long to wait for the other files of a change, ms. */
const SETTLE = 200;

/**
 * Calls back when files may hold something else. Their folders are watched, so that files may be renamed into place and
 * Kubernetes may turn the link `..data` to a new folder; where a file system tells of nothing, there is the poll.
 */
export class FileWatch implements Disposable {
  readonly #changed: () => void;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #folders: ReadonlySet<string>;
  #settling: NodeJS.Timeout | undefined;

  constructor(files: readonly string[], changed: () => void) {
    this.#changed = changed;
    this.#folders = new Set(files.map((file) => dirname(file)));
    this.#watch();
    this.#poll = setInterval(() => this.#look(), POLL).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** A folder that could not be watched, or no longer, may be there by now. */
  #look(): void {
    this.#watch();
    this.#changed();
  }

  #watch(): void {
    for (const folder of this.#folders) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#settle());
        watcher.on("error", () => this.#forget(folder));
        this.#watchers.set(folder, watcher);
      } catch {
        // Too many watches, or no such folder: there is the poll.
      }
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  /** However much else goes on in the folders: what comes in the meantime is looked at with the rest, what comes later anew. */
  #settle(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      this.#changed();
    }, SETTLE).unref();
  }
}
