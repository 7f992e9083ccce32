import { mkdirSync } from "node:fs";
import { quote } from "@virtual-workspaces/apimachinery";
import { sleep } from "@virtual-workspaces/transport";
import {
  type PhysicalSpace,
  type ProviderCall,
  type ProviderChange,
  rejectParent,
  type SpaceAccess,
  type SpaceProvider,
} from "../../provider/provider.ts";
import { DirectoryLock } from "./directory-lock.ts";
import { SpaceFolder } from "./space-folder.ts";
import { SpaceProcess, type SpaceProcessOptions } from "./space-process.ts";

/** Options of {@link Processes}. */
export interface ProcessesOptions extends Omit<SpaceProcessOptions, "isOurs" | "onChange"> {
  /** Directory of the provider. */
  readonly directory: string;
  /** Directory of all providers of the type. */
  readonly root: string;
  /** Maximum number of spaces of all providers of the type. */
  readonly most: number;
  /** Whether processes keep running after the manager ends. */
  readonly keep: boolean;
}

/** Spaces that are processes. The files in the directory are the only state, and one manager at a time acts on them. */
export class Processes implements SpaceProvider, AsyncDisposable {
  readonly #options: ProcessesOptions;
  readonly #lock: DirectoryLock;
  readonly #spaces = new Map<string, SpaceProcess>();
  readonly #changes = new Changes();
  readonly #over = new AbortController();
  readonly #stack = new AsyncDisposableStack();
  readonly #first: Promise<void>;
  readonly #running: Promise<void>;

  /** @throws Error on a directory that cannot be created */
  constructor(options: ProcessesOptions) {
    this.#options = options;
    const { directory, keep } = options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#lock = new DirectoryLock(directory);
    const first = Promise.withResolvers<void>();
    this.#first = first.promise;
    this.#running = this.#run(first.resolve);
    if (!keep) this.#stack.adopt(process.on("exit", this.#killAll), () => void process.off("exit", this.#killAll));
  }

  async list({ parent, signal }: ProviderCall): Promise<readonly PhysicalSpace[]> {
    if (parent !== undefined) return [];
    await this.#read();
    return Promise.all([...this.#spaces.values()].map((space) => space.state(signal)));
  }

  async get(name: string, { parent, signal }: ProviderCall): Promise<PhysicalSpace | undefined> {
    if (parent !== undefined) return undefined;
    await this.#read();
    return this.#spaces.get(name)?.state(signal);
  }

  async access(name: string, { parent }: ProviderCall): Promise<SpaceAccess> {
    rejectParent(parent);
    const space = this.#spaces.get(name);
    if (space === undefined) throw new Error(`there is no process with the name ${quote(name)}`);
    return { external: space.kubeconfig };
  }

  async create(name: string, { parent }: ProviderCall): Promise<void> {
    rejectParent(parent);
    const { directory, root, most } = this.#options;
    const there = SpaceFolder.at(directory, name);
    if (there?.isLeaving) throw new Error("the previous space with this name is still being deleted");
    if (there === undefined && SpaceFolder.countAll(root) >= most)
      throw new Error(
        `the provider has its maximum of ${most} processes: delete Spaces, or increase most of the provider`,
      );
    if (there === undefined) SpaceFolder.make(directory, name);
    await this.#read();
  }

  async delete(name: string, { parent, signal }: ProviderCall): Promise<void> {
    if (parent !== undefined) return;
    await this.#read();
    await this.#spaces.get(name)?.leave(signal);
    await this.#read();
  }

  watch({ parent, signal }: ProviderCall): AsyncIterable<ProviderChange> {
    return parent === undefined ? this.#changes.subscribe(signal) : new Changes().subscribe(signal);
  }

  /** Keeps the spaces running with `keep`; otherwise stops those of this manager. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
    const spaces = [...this.#spaces.values()];
    await Promise.all(spaces.map((space) => space[Symbol.asyncDispose]()));
    if (!this.#options.keep && this.#lock.isOurs) await this.#stopAll(spaces);
    this.#lock[Symbol.dispose]();
    await this.#stack.disposeAsync();
  }

  async #run(first: () => void): Promise<void> {
    const { directory, checkEvery, log } = this.#options;
    const { signal } = this.#over;
    let complaint = "";
    while (!signal.aborted) {
      try {
        const before = this.#lock.isOurs;
        if ((await this.#lock.take()) && !before) SpaceFolder.sweep(directory);
        await this.#sync();
        complaint = "";
      } catch (error) {
        if (complaint !== String(error))
          log({ level: "warn", message: "the directory of spaces cannot be managed", error: String(error) });
        complaint = String(error);
      }
      first();
      await sleep(checkEvery, { signal });
    }
  }

  /** Reads the current state, after the first check of all spaces. */
  async #read(): Promise<void> {
    await this.#first;
    await this.#sync();
  }

  /** Starts to manage new spaces, and stops for removed ones. */
  async #sync(): Promise<void> {
    const folders = new Map(SpaceFolder.in(this.#options.directory).map((folder) => [folder.name, folder]));
    const gone = [...this.#spaces.values()].filter(({ folder }) => folders.get(folder.name)?.id !== folder.id);
    for (const { folder } of gone) this.#spaces.delete(folder.name);
    if (!this.#over.signal.aborted)
      for (const folder of folders.values()) if (!this.#spaces.has(folder.name)) this.#add(folder);
    for (const { folder } of gone) this.#changes.emit({ name: folder.name });
    await Promise.all(gone.map((space) => space[Symbol.asyncDispose]()));
    // A directory that a user removed by hand has no process any more.
    if (this.#lock.isOurs) for (const space of gone) space.kill();
  }

  #add(folder: SpaceFolder): void {
    const { name } = folder;
    const options = {
      ...this.#options,
      isOurs: () => this.#lock.isOurs,
      onChange: () => this.#changes.emit({ name }),
    };
    this.#spaces.set(name, new SpaceProcess(folder, options));
    this.#changes.emit({ name });
  }

  async #stopAll(spaces: readonly SpaceProcess[]): Promise<void> {
    const { log } = this.#options;
    for (const result of await Promise.allSettled(spaces.map((space) => space.stop())))
      if (result.status === "rejected")
        log({ level: "warn", message: "the process of a space could not be stopped", error: String(result.reason) });
  }

  readonly #killAll = (): void => {
    for (const space of this.#spaces.values()) space.kill();
  };
}

/** Changes for the watches of the provider. */
class Changes {
  readonly #listeners = new Set<(change: ProviderChange) => void>();

  emit(change: ProviderChange): void {
    for (const listen of [...this.#listeners]) listen(change);
  }

  /** Subscribes to changes until the signal aborts. Repeated names are merged until they are read. */
  subscribe(signal: AbortSignal): AsyncGenerator<ProviderChange, void, undefined> {
    const waiting = new Set<string | undefined>();
    let wake: () => void = () => undefined;
    const listen = ({ name }: ProviderChange): void => {
      waiting.add(name);
      wake();
    };
    this.#listeners.add(listen);
    const abort = (): void => wake();
    signal.addEventListener("abort", abort);
    const end = (): void => {
      this.#listeners.delete(listen);
      signal.removeEventListener("abort", abort);
    };
    return (async function* () {
      try {
        while (!signal.aborted) {
          for (const name of waiting) {
            waiting.delete(name);
            yield name === undefined ? {} : { name };
          }
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          if (waiting.size === 0 && !signal.aborted) await promise;
        }
      } finally {
        end();
      }
    })();
  }
}
