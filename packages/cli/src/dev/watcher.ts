import { type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isModule } from "./load.ts";

/** Changes that come within this time are one save, ms: editors write in several steps. */
const SETTLE = 100;

/** Tells of changes to a growing set of files, and of modules that come to their folders: one may be what was missing. */
export class Watcher implements Disposable {
  readonly #onChange: (file: string) => void;
  readonly #files = new Set<string>();
  readonly #watchers = new Map<string, FSWatcher>();
  #settling: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /** Watches these too. Folders are watched, not files: editors put a new file in the place of the old. */
  add(files: readonly string[]): void {
    for (const file of files) {
      this.#files.add(file);
      this.addFolder(dirname(file));
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  addFolder(folder: string): void {
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      if (name !== null && this.#concerns(folder, name)) this.#changed(join(folder, name));
    });
    // A folder that is removed tells of its files first.
    watcher.on("error", () => undefined);
    this.#watchers.set(folder, watcher);
  }

  #concerns(folder: string, name: string): boolean {
    return this.#files.has(join(folder, name)) || isModule(name);
  }

  #changed(file: string): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#onChange(file), SETTLE);
  }
}
