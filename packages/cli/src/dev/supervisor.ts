import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isModule } from "../views/load.ts";
import type { Loaded, Site } from "./dev-messages.ts";
import { Generation } from "./generation.ts";
import type { Port } from "./port.ts";

/** How long a process may take to end when it is told to, ms: Ctrl-C must be over within a second. */
const PATIENCE = 600;
/** How long one may take that another takes the place of, ms: what it has under way is not to be lost, on a busy machine either. */
const HANDOVER = 5_000;

export interface SupervisorOptions {
  readonly paths: readonly string[];
  /** Known by the time that the modules are loaded. */
  readonly site: Promise<Site>;
  /** A later generation serves in the place of the one before. */
  onReload(reload: { readonly loaded: Loaded; readonly file: string; readonly milliseconds: number }): void;
  /** A save could not be served, or the process that serves has ended by itself. */
  onProblem(problem: string): void;
}

/**
 * Keeps one process serving the modules as they were last saved. A new one gets the connections before the old one is
 * told to finish; one that cannot be loaded changes nothing. Where only one process can have the store, the old one lets
 * go of it first, connections wait, and the old one serves on if the new one cannot.
 */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #watcher: Watcher;
  readonly #living = new Set<Generation>();
  #current: Generation | undefined;
  #next: Generation | undefined;
  #port: Port | undefined;
  #paused = false;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#watcher = new Watcher((file) => void this.#reload(file));
  }

  /** Loads the modules and serves the connections of `port`. @throws Failure when that cannot be */
  async start(port: Port): Promise<Loaded> {
    const { paths, site } = this.#options;
    const first = this.#generation();
    for (const path of paths) {
      if (statSync(path).isDirectory()) this.#watcher.addFolder(path);
      else this.#watcher.add([path]);
    }
    await first.imported;
    const loaded = await first.serve(await site);
    this.#port = port;
    this.#promote(first);
    return loaded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    this.#watcher[Symbol.dispose]();
    const serving = [...this.#living].filter((generation) => generation !== this.#next);
    this.#next?.kill();
    await Promise.all(serving.map((generation) => generation.finish(PATIENCE)));
    await Promise.all([...this.#living].map((generation) => generation.ended));
  }

  async #reload(file: string): Promise<void> {
    const began = performance.now();
    this.#next?.kill();
    const next = this.#generation();
    this.#next = next;
    try {
      const { hosted } = await next.imported;
      const site = await this.#options.site;
      if (hosted && site.store.engine === "lmdb") await this.#pause(next);
      const loaded = await next.serve(site);
      const old = this.#current;
      this.#promote(next);
      await old?.finish(HANDOVER);
      if (this.#current === next) this.#options.onReload({ loaded, file, milliseconds: performance.now() - began });
    } catch (error) {
      // Killed by the next save, or by the end of everything.
      if (this.#next !== next || this.#stopping) return;
      this.#next = undefined;
      await this.#resume();
      this.#options.onProblem(`${file} changed, and what is there now cannot be served:\n${(error as Error).message}`);
    }
  }

  /** Has connections wait until nobody but the next has the store. */
  async #pause(next: Generation): Promise<void> {
    this.#paused = true;
    this.#port?.hold();
    const others = [...this.#living].filter((generation) => generation !== next && generation !== this.#current);
    await Promise.all([this.#current?.release(HANDOVER), ...others.map(({ ended }) => ended)]);
  }

  /** The one that has let go of the store serves again. */
  async #resume(): Promise<void> {
    if (!this.#paused) return;
    const current = this.#current;
    try {
      await current?.serve(await this.#options.site);
    } catch (error) {
      this.#options.onProblem((error as Error).message);
    }
    this.#paused = false;
    this.#port?.handTo(this.#current?.take);
  }

  #generation(): Generation {
    const generation = new Generation(this.#options.paths, (files) => this.#watcher.add(files));
    this.#living.add(generation);
    void generation.ended.then((how) => {
      this.#living.delete(generation);
      if (this.#current !== generation || this.#stopping) return;
      this.#current = undefined;
      if (this.#paused) return; // the next is about to take its place
      this.#port?.handTo(undefined);
      this.#options.onProblem(`the process that serves ended by itself (${how}); the next save starts it again`);
    });
    return generation;
  }

  #promote(generation: Generation): void {
    this.#next = undefined;
    this.#current = generation;
    this.#paused = false;
    this.#port?.handTo(generation.take);
  }
}

/** Changes that come within this time are one save, ms: editors write in several steps. */
const SETTLE = 100;

/** Tells of changes to a growing set of files, and of modules that come to their folders: one may be what was missing. */
class Watcher implements Disposable {
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
