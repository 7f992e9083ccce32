import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** Polling interval of files, ms, whatever their folders report: as in Kubernetes. */
const POLL = 60_000;
/** Wait for the other files of a change, ms. */
const SETTLE = 200;

/**
 * Calls back within a second when files may have changed, or a minute where the file system does not report changes. It watches
 * folders, so that files may be renamed into place and Kubernetes may move the link `..data`. It does not keep the process
 * running.
 */
export class FileWatch implements Disposable {
  readonly #changed: () => void;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #folders: ReadonlySet<string>;
  #settling: NodeJS.Timeout | undefined;

  /** @param changed called once for changes within 200 ms; it should compare what it reads */
  constructor(files: readonly string[], changed: () => void) {
    this.#changed = changed;
    this.#folders = new Set(files.map((file) => dirname(file)));
    this.#watch();
    this.#poll = setInterval(() => this.#look(), POLL).unref();
  }

  /** Ends the watch. */
  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** A folder whose watch failed or ended may exist by now. */
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
        // Too many watches, or no such folder: polling remains.
      }
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  /** Runs one check for all events in the meantime, however many arrive; later ones start another. */
  #settle(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      this.#changed();
    }, SETTLE).unref();
  }
}
