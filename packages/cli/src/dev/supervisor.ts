import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isModule } from "../views/load.ts";
import type { DevConsole } from "./dev-console.ts";
import type { Loaded, Site } from "./dev-messages.ts";
import { Generation } from "./generation.ts";
import { Outage, type Reason } from "./outage.ts";
import type { Port } from "./port.ts";

/** Time limit for a process to end, ms: Ctrl-C must take less than a second. */
const PATIENCE = 600;
/** Time limit for a process that another one replaces, ms. It is longer, so that requests in flight complete on a busy machine, too. */
const HANDOVER = 5_000;

export interface SupervisorOptions {
  readonly paths: readonly string[];
  /** Resolves by the time the modules are loaded. */
  readonly site: Promise<Site>;
  /** @default no console */
  readonly console?: DevConsole | undefined;
  /** A later generation has replaced the previous one. */
  onReload(reload: { readonly loaded: Loaded; readonly file: string; readonly seconds: number }): void;
  /** A saved change cannot be served, or the serving process has ended unexpectedly. */
  onProblem(problem: string): void;
}

/**
 * Keeps one process that serves the modules as last saved. A new process gets the connections before the old one drains; a
 * new process that fails to load changes nothing. If only one process can open the store, the old one releases it first,
 * connections wait, and the old one resumes if the new one fails. When it has ended unexpectedly, clients get 503 until the next
 * save: a process that starts again by itself would lose objects in memory, and hide the error.
 */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #watcher: Watcher;
  readonly #living = new Set<Generation>();
  #current: Generation | undefined;
  #next: Generation | undefined;
  #port: Port | undefined;
  #outage: Outage | undefined;
  #paused = false;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#watcher = new Watcher((file) => void this.#reload(file));
  }

  /** Loads the modules and serves the connections of `port`. @throws Failure when that fails */
  async start(port: Port): Promise<Loaded> {
    const { paths, site } = this.#options;
    const first = this.#generation();
    for (const path of paths) {
      if (statSync(path).isDirectory()) this.#watcher.addFolder(path);
      else this.#watcher.add([path]);
    }
    await first.imported;
    const settled = await site;
    const loaded = await first.serve(settled);
    this.#port = port;
    this.#outage = new Outage(settled);
    this.#promote(first);
    return loaded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    this.#watcher[Symbol.dispose]();
    this.#outage?.[Symbol.dispose]();
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
      if (this.#current === next) this.#options.onReload({ loaded, file, seconds: (performance.now() - began) / 1000 });
    } catch (error) {
      // The next save or the shutdown has killed this process.
      if (this.#next !== next || this.#stopping) return;
      this.#next = undefined;
      const { message } = error as Error;
      const known = `virtual-workspaces dev cannot serve the changed file ${file}: correct and save it`;
      await this.#resume({ message: known, error: message });
      this.#options.onProblem(`cannot serve the changed file ${file}:\n${message}`);
    }
  }

  /** Makes connections wait until only `next` can open the store. */
  async #pause(next: Generation): Promise<void> {
    this.#paused = true;
    this.#port?.hold();
    const others = [...this.#living].filter((generation) => generation !== next && generation !== this.#current);
    await Promise.all([this.#current?.release(HANDOVER), ...others.map(({ ended }) => ended)]);
  }

  /** Makes the process that released the store serve again. Without such a process, clients get the reason. */
  async #resume(reason: Reason): Promise<void> {
    if (this.#paused) {
      try {
        await this.#current?.serve(await this.#options.site);
      } catch (error) {
        this.#options.onProblem((error as Error).message);
      }
      this.#paused = false;
    }
    this.#port?.handTo(this.#current?.take ?? this.#outage?.because(reason));
  }

  #generation(): Generation {
    const { paths, console: page } = this.#options;
    const generation: Generation = new Generation({
      ...{ paths, console: page },
      onFiles: (files) => this.#watcher.add(files),
      onEnd: (session) => {
        page?.end(session);
        for (const other of this.#living) if (other !== generation) other.endSession(session);
      },
    });
    this.#living.add(generation);
    void generation.ended.then((how) => {
      this.#living.delete(generation);
      if (this.#current !== generation || this.#stopping) return;
      this.#current = undefined;
      if (this.#paused) return; // the next process takes over
      const { fault: error } = generation;
      const message = `the serving process of virtual-workspaces dev ended unexpectedly (${how}): save a file to start it again`;
      this.#port?.handTo(this.#outage?.because({ message, ...(error !== undefined && { error }) }));
      this.#options.onProblem(message);
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

/** Changes within this time count as one save, ms: editors write in several steps. */
const SETTLE = 100;

/** Reports changes of a growing set of files, and new modules in their folders, which may be missing imports. */
class Watcher implements Disposable {
  readonly #onChange: (file: string) => void;
  readonly #files = new Set<string>();
  readonly #watchers = new Map<string, FSWatcher>();
  #settling: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /** Adds files. Watches their folders, because editors replace files. */
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
    // A removed folder reports its files first.
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
